#include "common/solver/gang/ranks/plan_ranks.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/solver/gang/repair/lost_pods.hpp"
#include "common/solver/ranks/communicators.hpp"
#include "common/solver/ranks/completed_order.hpp"
#include "common/solver/ranks/weighted_order.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::Plan;

struct RankedPod {
  FabricNodeId node = kNowhere;
  int rank = 0;
};

// Where ranks are not listed, running pods have the lowest ones, depth-first.
std::vector<RankedPod> growing_pods(const Fabric& fabric, const Gang& gang) {
  std::vector<RankedPod> out;
  std::set<int> taken;
  std::vector<FabricNodeId> unlisted;
  for (const auto& [node, here] : gang.existing) {
    for (const int rank : here.ranks) {
      out.push_back({node, rank});
      taken.insert(rank);
    }
    unlisted.insert(unlisted.end(), static_cast<std::size_t>(here.pods) - here.ranks.size(), node);
  }
  std::stable_sort(unlisted.begin(), unlisted.end(),
                   [&](FabricNodeId a, FabricNodeId b) { return fabric.before(a, b); });
  int next = 0;
  for (const FabricNodeId node : unlisted) {
    while (taken.contains(next)) ++next;
    out.push_back({node, next++});
  }
  return out;
}

std::vector<RankedPod> staying_pods(const Fabric& fabric, const Gang& gang) {
  if (!gang.failed) return growing_pods(fabric, gang);
  std::vector<RankedPod> out;
  for (const RunningPod& pod : identify_pods(fabric, gang)) {
    if (std::find(gang.failed->begin(), gang.failed->end(), pod.node) == gang.failed->end())
      out.push_back({pod.node, pod.rank});
  }
  return out;
}

// Whether every rank below their number is given once.
bool without_gaps(const std::vector<RankedPod>& pods) {
  std::vector<bool> seen(pods.size(), false);
  for (const RankedPod& pod : pods) {
    const auto rank = static_cast<std::size_t>(pod.rank);
    if (pod.rank < 0 || rank >= pods.size() || seen[rank]) return false;
    seen[rank] = true;
  }
  return true;
}

bool share_finest_domains(const Fabric& fabric, const std::vector<RankedPod>& pods) {
  std::set<std::pair<DomainId, FabricNodeId>> nodes;
  std::set<DomainId> domains;
  for (const RankedPod& pod : pods) {
    const DomainId domain = fabric.node(pod.node).domain;
    nodes.emplace(domain, pod.node);
    domains.insert(domain);
  }
  return domains.size() < nodes.size();
}

// An unknown element is a domain of one node, whose name no domain has.
RankPath path_of(const Fabric& fabric, FabricNodeId node, std::size_t levels) {
  RankPath out;
  const std::string alone = '\x01' + fabric.node(node).name;
  for (std::size_t level = 0; level < fabric.levels(); ++level) {
    const std::string& name = fabric.name(fabric.domain_of(node, static_cast<int>(level)));
    out.push_back(name.empty() ? alone : name);
  }
  if (out.size() < levels) out.push_back(fabric.node(node).name);
  return out;
}

bool all_alike(const Gang& gang) {
  return gang.sets.empty() && gang.allowed.empty() &&
         std::adjacent_find(gang.pod_chips.begin(), gang.pod_chips.end(), std::not_equal_to<>()) ==
             gang.pod_chips.end();
}

// order: by rank, the position in `pods`, which begins with the plan's.
void apply(const std::vector<std::size_t>& order, const std::vector<RankedPod>& pods, bool alike,
           Plan& plan) {
  if (alike) {
    for (domain::PlannedPod& one : plan.pods)
      one.node = pods[order[static_cast<std::size_t>(one.rank)]].node;
    return;
  }
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    if (order[rank] < plan.pods.size()) plan.pods[order[rank]].rank = static_cast<int>(rank);
  }
  std::sort(plan.pods.begin(), plan.pods.end(),
            [](const auto& a, const auto& b) { return a.rank < b.rank; });
}

}  // namespace

Result<RankOrder> order_ranks(const Fabric& fabric, const std::vector<std::string>& level_names,
                              const Gang& gang, const domain::Communicators& communicators,
                              Plan& plan) {
  std::vector<RankedPod> pods;
  for (const domain::PlannedPod& one : plan.pods) pods.push_back({one.node, one.rank});
  const std::vector<RankedPod> staying = staying_pods(fabric, gang);
  pods.insert(pods.end(), staying.begin(), staying.end());
  auto traffic = pod_traffic(communicators, pods.size());
  if (!traffic) return std::move(traffic).error();
  if (!without_gaps(pods))
    return make_error(Errc::invalid_argument,
                      concat("ranks_per_pod: the ranks of running pods must be below ", pods.size(),
                             ", the number of pods"));
  RankOrder out;
  out.levels = level_names;
  const bool named = std::find(level_names.begin(), level_names.end(), "node") != level_names.end();
  if (!named && level_names.size() < limits::kMaxNetworkLevels &&
      share_finest_domains(fabric, pods))
    out.levels.emplace_back("node");
  const std::size_t levels = out.levels.size();
  std::vector<RankPath> paths;
  std::vector<std::size_t> before(pods.size());
  for (std::size_t i = 0; i < pods.size(); ++i) {
    paths.push_back(path_of(fabric, pods[i].node, levels));
    before[static_cast<std::size_t>(pods[i].rank)] = i;
  }

  const bool alike = all_alike(gang);
  WeightedOrder found{before, false};
  if (staying.empty()) {
    found = weighted_order(levels, paths, *traffic);
  } else if (alike || !gang.failed) {
    std::vector<std::optional<std::size_t>> fixed(plan.pods.size());
    for (const RankedPod& pod : staying) fixed.emplace_back(static_cast<std::size_t>(pod.rank));
    found = completed_order(levels, paths, fixed, *traffic);
  }
  out.optimal = found.optimal;
  out.crossings = communicator_crossings(levels, paths, *traffic, found.order);
  out.weighted = weighted_cost(*traffic, out.crossings);
  out.depth_first_weighted =
      weighted_cost(*traffic, communicator_crossings(levels, paths, *traffic, before));
  out.ring = ring_crossings(levels, paths, found.order);
  out.communicators = std::move(traffic->communicators);
  apply(found.order, pods, alike, plan);
  return out;
}

}  // namespace chipweave::solver
