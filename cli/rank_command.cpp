// chipweave rank: in which order pods that have a place should be numbered.
#include <CLI/CLI.hpp>
#include <memory>
#include <numeric>

#include "cli/batch.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "common/base/limits.hpp"
#include "common/codec/batch/batch.hpp"
#include "common/codec/gang/rank_codec.hpp"
#include "common/solver/gang/rank_order.hpp"

namespace chipweave::cli {
namespace {

BatchAnswer answer(const std::string& line, Timing& timing) {
  const codec::RankLine parsed = codec::parse_rank_line(line);
  if (!parsed.request) return {codec::write_batch_error(parsed.id, parsed.request.error()), true};
  const codec::RankRequest& request = *parsed.request;
  const std::size_t levels = request.levels.size();
  codec::RankAnswer out;
  out.order = timing.timed([&] { return solver::depth_first(levels, request.paths); });
  std::vector<std::size_t> given(request.paths.size());
  std::iota(given.begin(), given.end(), std::size_t{0});
  out.crossings = solver::ring_crossings(levels, request.paths, out.order);
  out.input_crossings = solver::ring_crossings(levels, request.paths, given);
  return {codec::write_rank_answer(parsed.id, request, out), false};
}

}  // namespace

void register_rank(CLI::App& app, Exit& exit_code) {
  auto flags = std::make_shared<BatchFlags>();
  CLI::App* c = app.add_subcommand("rank", "order pods that have a place, from a batch file");
  add_batch_options(*c, *flags)->required();
  add_examples(*c,
               "  echo '{\"id\":1,\"levels\":[\"spine\",\"leaf\"],\"pods\":[{\"name\":\"p0\","
               "\"path\":[\"s0\",\"l1\"]}]}' | chipweave rank --batch -");
  c->callback(
      [=, &exit_code] { exit_code = run_batch(*flags, limits::kMaxPlanLineBytes, answer); });
}

}  // namespace chipweave::cli
