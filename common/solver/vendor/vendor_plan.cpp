#include "common/solver/vendor/vendor_plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "common/solver/gang/plan_numbers.hpp"
#include "common/solver/gang/planner.hpp"
#include "common/solver/gang/uniform/uniform_pods.hpp"
#include "common/solver/vendor/tor_affinity.hpp"
#include "common/solver/vendor/vendor_rules.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::Plan;

// Slices of the gang itself and of its vendor, coarsest first. Where both name a level, the
// vendor's must contain the gang's.
Result<Gang> constrained(Gang gang, const VendorConstraints& by) {
  gang.required_level = std::max(gang.required_level, by.required_level);
  for (const VendorSlice& slice : by.slices) {
    const auto same =
        std::find_if(gang.slices.begin(), gang.slices.end(),
                     [&](const domain::Slice& own) { return own.level == slice.level; });
    if (same == gang.slices.end())
      gang.slices.push_back({slice.level, slice.size});
    else if (slice.size % same->size == 0)
      same->size = slice.size;
    else
      return make_error(Errc::invalid_argument,
                        "a slice of " + std::to_string(slice.size) +
                            " pods does not go with the gang's own slice of " +
                            std::to_string(same->size) + " at that level");
  }
  std::sort(gang.slices.begin(), gang.slices.end(),
            [](const auto& a, const auto& b) { return a.level < b.level; });
  for (std::size_t i = 1; i < gang.slices.size(); ++i) {
    if (gang.slices[i - 1].size % gang.slices[i].size != 0)
      return make_error(Errc::invalid_argument,
                        "its slices and the gang's own do not divide each other");
  }
  if (!gang.spare) gang.spare = by.keep_spare;
  return gang;
}

bool soft(const VendorConstraints& constraints) {
  return std::any_of(constraints.slices.begin(), constraints.slices.end(),
                     [](const VendorSlice& slice) { return slice.soft; });
}

// As many whole soft slices as fit, then the rest of the gang next to them without that slice.
Result<Plan> plan_softly(const Fabric& fabric, const std::vector<std::string>& level_names,
                         const Gang& gang, const VendorConstraints& constraints) {
  auto whole = constrained(gang, constraints);
  if (!whole) return std::move(whole).error();
  auto rest = constrained(gang, without_soft_slices(constraints));
  if (!rest) return std::move(rest).error();
  const int all = gang.pods + gang.running_pods();
  whole->pods -= whole->slices.empty() ? 0 : all % whole->slices.front().size;
  whole->min_member = 0;
  Plan first;
  if (whole->pods > 0) first = plan_gang(fabric, level_names, *whole);
  if (first.fits && static_cast<int>(first.pods.size()) == gang.pods) return first;
  NodeUsages given;
  for (const domain::PlannedPod& pod : first.pods) {
    ++rest->existing[pod.node].pods;
    given[pod.node].used_chips += gang.chips_per_pod;
    ++given[pod.node].used_pods;
  }
  rest->pods -= static_cast<int>(first.pods.size());
  Plan second = plan_gang(fabric, level_names, *rest, given);
  if (!second.fits && static_cast<int>(first.pods.size()) + gang.running_pods() < gang.min_member)
    return second;
  Plan plan;
  plan.fits = true;
  plan.optimal = first.optimal && second.optimal;
  std::vector<PodOnNode> pods;
  for (const Plan* part : {&first, &second})
    for (const domain::PlannedPod& pod : part->pods)
      pods.push_back({pod.node, static_cast<int>(pods.size()), domain::kNoSet});
  number_ranks(fabric, gang, std::move(pods), plan);
  return plan;
}

std::vector<TorLeaf> leaves_of(const Fabric& fabric, const Gang& gang, int level,
                               const std::map<std::string, domain::TorState>& states,
                               std::vector<std::vector<FabricNodeId>>& nodes) {
  std::vector<TorLeaf> out;
  for (const DomainId domain : fabric.domains_of_level(kRootDomain, level)) {
    TorLeaf& leaf = out.emplace_back();
    leaf.name = path_text(fabric, domain);
    auto state = states.find(leaf.name);
    if (state == states.end()) state = states.find(fabric.name(domain));
    if (state != states.end()) leaf.state = state->second;
    std::vector<FabricNodeId>& below = nodes.emplace_back();
    fabric.each_node_below(domain, [&](FabricNodeId id) {
      const FabricNode& node = fabric.node(id);
      leaf.nodes.push_back(
          {node.name, node.healthy && node.free >= gang.chips_per_pod && node.max_pods > 0});
      below.push_back(id);
    });
  }
  return out;
}

Result<VendorPlan> plan_by_leaf(const Fabric& fabric, const Gang& gang,
                                const domain::VendorJob& job) {
  const bool other_rules = !gang.existing.empty() || !gang.sets.empty() || !gang.slices.empty() ||
                           !gang.allowed.empty() || gang.failed || gang.spare ||
                           gang.required_level != domain::kNoLevel ||
                           gang.policy != domain::GangPolicy::compact ||
                           gang.min_member < gang.pods;
  if (other_rules)
    return make_error(Errc::invalid_argument,
                      "leaf affinity chooses the nodes of a whole new gang of equal pods: "
                      "existing, failed_nodes, min_member, slices, required_level, policy, "
                      "allowed_nodes and keep_spare cannot be combined with it")
        .in("gang.vendor.tor");
  std::vector<std::vector<FabricNodeId>> nodes;
  const std::vector<TorLeaf> leaves =
      leaves_of(fabric, gang, job.levels.leaf, job.tor->states, nodes);
  const auto found = plan_tor(leaves, gang.pods, *job.tor);
  if (!found) return Error(found.error()).in("gang.vendor.tor");
  VendorPlan out;
  out.plan.fits = found->fits;
  out.plan.optimal = found->fewest;
  out.plan.reason = found->reason;
  for (const TorPod& pod : found->pods) {
    const auto rank = static_cast<int>(out.plan.pods.size());
    out.plan.pods.push_back({rank, nodes[pod.leaf][pod.slice], rank, domain::kNoSet});
  }
  if (found->fits) out.plan.domains = count_domains(fabric, gang, out.plan.pods);
  if (!out.plan.optimal)
    out.plan.bound = fewest_by_chips(
        fabric, gang, static_cast<std::int64_t>(out.plan.pods.size()) * gang.chips_per_pod);
  for (const TorLeafUse& use : found->leaves)
    out.leaves.push_back({leaves[use.leaf].name, use.state, use.pods});
  return out;
}

Result<Plan> plan_constrained(const Fabric& fabric, const std::vector<std::string>& level_names,
                              const Gang& gang, const VendorConstraints& constraints) {
  if (soft(constraints) && !gang.failed) return plan_softly(fabric, level_names, gang, constraints);
  const auto hard = constrained(gang, constraints);
  if (!hard) return hard.error();
  Plan plan = plan_gang(fabric, level_names, *hard);
  if (plan.fits || !soft(constraints)) return plan;
  // Not inside the block that lost pods.
  return constrained(gang, without_soft_slices(constraints)).transform([&](const Gang& loose) {
    return plan_gang(fabric, level_names, loose);
  });
}

}  // namespace

Result<VendorPlan> plan_vendor_gang(const Fabric& fabric,
                                    const std::vector<std::string>& level_names, const Gang& gang,
                                    domain::VendorJob job) {
  job.pods = gang.failed ? gang.pods : gang.pods + gang.running_pods();
  job.chips_per_pod = gang.chips_per_pod;
  auto constraints = vendor_constraints(job);
  if (constraints && constraints->by_leaf_switch) return plan_by_leaf(fabric, gang, job);
  auto plan = std::move(constraints).and_then([&](const VendorConstraints& by) {
    return plan_constrained(fabric, level_names, gang, by);
  });
  if (!plan) return std::move(plan).error().in("gang.vendor");
  return VendorPlan{*std::move(plan), {}};
}

}  // namespace chipweave::solver
