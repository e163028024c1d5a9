// chipweave plan: where a gang goes on a network.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/batch.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/plan_engine.hpp"
#include "common/base/limits.hpp"
#include "common/codec/batch/batch.hpp"
#include "common/codec/gang/plan_codec.hpp"

namespace chipweave::cli {
namespace {

BatchAnswer answer(PlanEngine& engine, const std::string& line, Timing& timing) {
  const codec::PlanLine parsed = codec::parse_plan_line(line);
  if (!parsed.request) return {codec::write_batch_error(parsed.id, parsed.request.error()), true};
  const auto prepared = engine.prepare(*parsed.request);
  if (!prepared) return {codec::write_batch_error(parsed.id, prepared.error()), true};
  const auto decided = timing.timed([&] { return PlanEngine::decide(*parsed.request, *prepared); });
  if (!decided) return {codec::write_batch_error(parsed.id, decided.error()), true};
  return {codec::write_plan_answer(parsed.id, *parsed.request, decided->plan, decided->details),
          false};
}

}  // namespace

void register_plan(CLI::App& app, Exit& exit_code) {
  auto flags = std::make_shared<BatchFlags>();
  CLI::App* c = app.add_subcommand("plan", "place a gang on a network, from a batch file");
  add_batch_options(*c, *flags)->required();
  add_examples(*c,
               "  echo '{\"id\":1,\"network\":{\"levels\":[\"rack\"],\"nodes\":[{\"name\":\"x1\","
               "\"path\":[\"r1\"],\"free\":8}]},\"gang\":{\"pods\":2,\"chips_per_pod\":4}}' | "
               "chipweave plan --batch -");
  c->callback([=, &exit_code] {
    PlanEngine engine;
    exit_code = run_batch(
        *flags, limits::kMaxPlanLineBytes,
        [&](const std::string& line, Timing& timing) { return answer(engine, line, timing); });
  });
}

}  // namespace chipweave::cli
