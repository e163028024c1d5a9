// chipweave plan: where a gang goes on a network; one by flags (plan_human) or many by --batch.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "cli/batch.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/plan_human.hpp"
#include "common/base/limits.hpp"
#include "common/codec/batch/batch.hpp"
#include "common/codec/gang/plan_codec.hpp"

namespace chipweave::cli {
namespace {

PlannedLine plan_error(const std::string& id, const Error& error) {
  return {codec::write_batch_error(id, error), error, {}, {}};
}

}  // namespace

PlannedLine plan_line(PlanEngine& engine, const std::string& line, Timing& timing) {
  codec::PlanLine parsed = codec::parse_plan_line(line);
  if (!parsed.request) return plan_error(parsed.id, parsed.request.error());
  codec::PlanRequest request = *std::move(parsed.request);
  const auto prepared = engine.prepare(request);
  if (!prepared) return plan_error(parsed.id, prepared.error());
  auto decided = timing.timed([&] { return PlanEngine::decide(request, *prepared); });
  if (!decided) return plan_error(parsed.id, decided.error());
  std::string answer =
      codec::write_plan_answer(parsed.id, request, decided->plan, decided->details);
  return {std::move(answer), std::nullopt, std::move(request), *std::move(decided)};
}

void register_plan(CLI::App& app, Exit& exit_code) {
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* c = app.add_subcommand("plan", "place a gang on a network, from flags or a batch file");
  auto* batch = add_batch_options(*c, flags->batch);
  add_plan_flags(*c, *flags, batch);
  add_output_option(*c, flags->form);
  add_examples(*c,
               "  chipweave plan --network topology.conf --free 8 --pods 64 --chips 8 "
               "--required spine\n"
               "  chipweave plan --network net.json --gang gang.json -o json\n"
               "  echo '{\"id\":1,\"network\":{\"levels\":[\"rack\"],\"nodes\":[{\"name\":\"x1\","
               "\"path\":[\"r1\"],\"free\":8}]},\"gang\":{\"pods\":2,\"chips_per_pod\":4}}' | "
               "chipweave plan --batch -");
  c->callback([=, &exit_code] {
    PlanEngine engine;
    const auto answer = [&engine](const std::string& line, Timing& timing) -> BatchAnswer {
      PlannedLine planned = plan_line(engine, line, timing);
      return {std::move(planned.answer), planned.wrong.has_value()};
    };
    exit_code = batch->count() > 0 ? run_batch(flags->batch, limits::kMaxPlanLineBytes, answer)
                                   : run_plan_flags(*flags);
  });
}

}  // namespace chipweave::cli
