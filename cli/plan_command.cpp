// chipweave plan: where a gang goes on a network.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/batch.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "common/base/limits.hpp"
#include "common/codec/batch/batch.hpp"
#include "common/codec/gang/plan_codec.hpp"
#include "common/solver/gang/planner.hpp"

namespace chipweave::cli {
namespace {

// What a scheduler holds ready. Nodes have their positions in the request for numbers.
Result<solver::Fabric> fabric_of(const codec::PlanRequest& request) {
  solver::Fabric fabric(request.levels.size());
  for (const codec::PlanNode& node : request.nodes) {
    const auto id = fabric.add(node.name, node.path);
    if (!id) return Error(id.error());
    fabric.set_free(*id, node.free);
    if (node.max_pods >= 0) fabric.set_max_pods(*id, node.max_pods);
    fabric.set_healthy(*id, node.healthy);
  }
  return fabric;
}

BatchAnswer answer(const std::string& line, Timing& timing) {
  const codec::PlanLine parsed = codec::parse_plan_line(line);
  if (!parsed.request) return {codec::write_batch_error(parsed.id, parsed.request.error()), true};
  const codec::PlanRequest& request = *parsed.request;
  const Result<solver::Fabric> fabric = fabric_of(request);
  if (!fabric) return {codec::write_batch_error(parsed.id, fabric.error()), true};
  const domain::Plan plan =
      timing.timed([&] { return solver::plan_gang(*fabric, request.levels, request.gang); });
  return {codec::write_plan_answer(parsed.id, request, plan), false};
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
  c->callback(
      [=, &exit_code] { exit_code = run_batch(*flags, limits::kMaxPlanLineBytes, answer); });
}

}  // namespace chipweave::cli
