#include "common/solver/gang/rails/best_nodes.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "common/domain/topology_edit.hpp"
#include "common/solver/chips/sets/rules.hpp"
#include "common/solver/gang/chips/chip_plan.hpp"
#include "common/solver/gang/planner.hpp"
#include "common/solver/gang/rails/exchange_shares.hpp"
#include "common/solver/gang/rails/fastest_plan.hpp"
#include "common/solver/gang/rails/rate_vector.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::Plan;

bool has_one_size(const Gang& gang) {
  return gang.sets.empty() && gang.pod_chips.empty() && gang.chips_per_pod > 0;
}

// Pods may then change places.
bool is_uniform(const Gang& gang) { return has_one_size(gang) && gang.allowed.empty(); }

// Why no machine can run such pods; empty: one can, or some machines are not known.
std::string illegal_size(const Fabric& fabric, const Gang& gang, const NodeMachines& machines) {
  if (!has_one_size(gang) || machines.size() < fabric.size()) return "";
  std::set<const Machine*> seen;
  std::string why;
  for (const auto& [node, one] : machines) {
    if (!seen.insert(one.machine.get()).second) continue;
    const Wiring wiring(*one.topology);
    const Rules rules(wiring);
    if (rules.legal_size(gang.chips_per_pod, gang.size() > 1)) return "";
    why = rules.size_refusal(gang.chips_per_pod, gang.size() > 1);
  }
  return why;
}

bool has_adapters(const NodeMachines& machines) {
  return std::any_of(machines.begin(), machines.end(),
                     [](const auto& one) { return !one.second.topology->nics().empty(); });
}

// The same machines as if nothing was known of their adapters.
NodeMachines without_adapters(const NodeMachines& machines) {
  std::map<const domain::NodeTopology*, std::shared_ptr<const domain::NodeTopology>> bare;
  NodeMachines out = machines;
  for (auto& [node, machine] : out) {
    auto& topology = bare[machine.topology.get()];
    if (topology == nullptr) {
      domain::TopologyEdit edit;
      edit.nics.emplace();
      auto made = domain::rebuilt(*machine.topology, edit);
      topology =
          made ? std::make_shared<const domain::NodeTopology>(*std::move(made)) : machine.topology;
    }
    machine.topology = topology;
    machine.loaded = {};
    machine.down_nics.clear();
  }
  return out;
}

bool same_nodes(const Plan& a, const Plan& b) {
  return std::equal(
      a.pods.begin(), a.pods.end(), b.pods.begin(), b.pods.end(),
      [](const domain::PlannedPod& x, const domain::PlannedPod& y) { return x.node == y.node; });
}

// Where nodes differ much in their rails the search may end before it finds the plan that is the
// fastest by the chips alone; and it does not look for plans without a common rail. So the two
// searches are compared, by what their plans get.
Plan fastest_by_chips_or_rails(const Fabric& fabric, const std::vector<std::string>& level_names,
                               const Gang& gang, const NodeMachines& machines,
                               const std::vector<std::optional<double>>& level_gbps, Plan first,
                               const std::function<double(const Plan&)>& gbps) {
  std::vector<Plan> others;
  others.push_back(fastest_plan(fabric, level_names, gang, machines, level_gbps, first));
  if (has_adapters(machines))
    others.push_back(
        fastest_plan(fabric, level_names, gang, without_adapters(machines), level_gbps, first));
  std::optional<double> now;
  for (Plan& other : others) {
    if (same_nodes(first, other)) continue;
    if (!now) now = gbps(first);
    const double more = gbps(other);
    if (more <= *now + kSameRate) continue;
    first = std::move(other);
    now = more;
  }
  return first;
}

}  // namespace

Plan plan_on_best_nodes(const Fabric& fabric, const std::vector<std::string>& level_names,
                        const Gang& gang, const NodeMachines& machines,
                        const std::vector<std::optional<double>>& level_gbps,
                        const RailLeaves& leaves) {
  Plan plan = plan_gang(fabric, level_names, gang);
  if (!plan.fits) {
    if (std::string why = illegal_size(fabric, gang, machines); !why.empty())
      plan.reason = std::move(why);
    return plan;
  }
  if (!is_uniform(gang) || gang.failed) return plan;
  const bool exchanges = gang.objective == domain::Objective::all_to_all;
  // For all_to_all the nodes are those that bandwidth chooses; shares and chips follow.
  const domain::Objective objective = exchanges ? domain::Objective::bandwidth : gang.objective;
  const std::function<double(const Plan&)> gbps = [&](const Plan& made) {
    return assign_chips_for(objective, fabric, level_names, gang, machines, level_gbps, made)
        .bandwidth.gbps.value_or(0);
  };
  const bool fastest = !machines.empty() && gang.objective != domain::Objective::latency;
  if (fastest)
    plan = fastest_by_chips_or_rails(fabric, level_names, gang, machines, level_gbps,
                                     std::move(plan), gbps);
  if (!leaves.empty())
    plan = align_leaves(fabric, level_names, gang, leaves, gbps, std::move(plan));
  if (!fastest || !exchanges) return plan;
  const auto exchange = [&](const Plan& made) {
    return assign_chips(fabric, level_names, gang, machines, level_gbps, made)
        .all_to_all.gbps.value_or(0);
  };
  Plan shared = exchange_shares(fabric, gang, machines, plan);
  return exchange(shared) >= exchange(plan) ? shared : plan;
}

}  // namespace chipweave::solver
