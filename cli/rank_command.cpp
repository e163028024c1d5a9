// chipweave rank: in which order pods that have a place should be numbered.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <numeric>

#include "cli/batch.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/terminal.hpp"
#include "common/base/limits.hpp"
#include "common/codec/batch/batch.hpp"
#include "common/codec/gang/rank_codec.hpp"
#include "common/solver/gang/rank_order.hpp"

namespace chipweave::cli {
namespace {

struct Flags {
  std::string batch;
  bool timing = false;
  int repeat = 1;
};

BatchAnswer answer(const Flags& flags, Timing& timing, const std::string& line) {
  const codec::RankLine parsed = codec::parse_rank_line(line);
  if (!parsed.request) return {codec::write_batch_error(parsed.id, parsed.request.error()), true};
  const codec::RankRequest& request = *parsed.request;
  const std::size_t levels = request.levels.size();
  codec::RankAnswer out;
  out.order = timing.timed(flags.timing ? flags.repeat : 1,
                           [&] { return solver::depth_first(levels, request.paths); });
  std::vector<std::size_t> given(request.paths.size());
  std::iota(given.begin(), given.end(), std::size_t{0});
  out.crossings = solver::ring_crossings(levels, request.paths, out.order);
  out.input_crossings = solver::ring_crossings(levels, request.paths, given);
  return {codec::write_rank_answer(parsed.id, request, out), false};
}

}  // namespace

void register_rank(CLI::App& app, Exit& exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* c = app.add_subcommand("rank", "order pods that have a place, from a batch file");
  c->add_option("--batch", flags->batch, "requests, one JSON object a line; - reads standard input")
      ->required();
  c->add_flag("--timing", flags->timing, "print the time per decision to standard error");
  c->add_option("--repeat", flags->repeat, "decide each request so often (with --timing)")
      ->check(CLI::Range(1, 1000000));
  add_examples(*c,
               "  echo '{\"id\":1,\"levels\":[\"spine\",\"leaf\"],\"pods\":[{\"name\":\"p0\","
               "\"path\":[\"s0\",\"l1\"]}]}' | chipweave rank --batch -");
  c->callback([=, &exit_code] {
    Timing timing;
    exit_code = run_batch(flags->batch, limits::kMaxPlanLineBytes,
                          [&](const std::string& line) { return answer(*flags, timing, line); });
    if (flags->timing && exit_code != Exit::unreadable) std::cerr << timing.line() << '\n';
  });
}

}  // namespace chipweave::cli
