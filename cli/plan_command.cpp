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

// What a scheduler holds ready, and the question.
struct Prepared {
  solver::Fabric fabric;
  solver::GangQuestion question;
};

Result<Prepared> prepare(const codec::PlanRequest& request) {
  Prepared out{solver::Fabric(request.levels.size()), {request.gang, {}}};
  std::map<std::string, int> existing = request.existing;
  for (const codec::PlanNode& node : request.nodes) {
    const auto id = out.fabric.add(node.name, node.path);
    if (!id) return Error(id.error());
    out.fabric.set_free(*id, node.free);
    if (node.max_pods >= 0) out.fabric.set_max_pods(*id, node.max_pods);
    out.fabric.set_healthy(*id, node.healthy);
    const auto running = existing.find(codec::joined_path(node.path));
    if (running == existing.end()) continue;
    if (running->second > 0) out.question.existing[*id] = running->second;
    existing.erase(running);  // the first node of that path stands for all of them
  }
  return out;
}

BatchAnswer answer(const std::string& line, Timing& timing) {
  const codec::PlanLine parsed = codec::parse_plan_line(line);
  if (!parsed.request) return {codec::write_batch_error(parsed.id, parsed.request.error()), true};
  const codec::PlanRequest& request = *parsed.request;
  const Result<Prepared> prepared = prepare(request);
  if (!prepared) return {codec::write_batch_error(parsed.id, prepared.error()), true};
  const domain::Plan plan = timing.timed(
      [&] { return solver::plan_gang(prepared->fabric, request.levels, prepared->question); });
  codec::PlanAnswer out{plan.fits, {}, plan.domains, plan.optimal, plan.bound, plan.reason};
  for (const domain::PlannedPod& one : plan.pods) out.pods.push_back({one.pod, one.node, one.rank});
  return {codec::write_plan_answer(parsed.id, request, out), false};
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
