#include "common/solver/gang/plan_numbers.hpp"

#include <algorithm>
#include <functional>

#include "common/solver/gang/uniform/uniform_pods.hpp"

namespace chipweave::solver {
namespace {

// The ranks without a running pod, ascending.
class FreeRanks {
 public:
  explicit FreeRanks(const domain::Gang& gang) {
    int counted = 0;
    for (const auto& [node, here] : gang.existing) {
      taken_.insert(taken_.end(), here.ranks.begin(), here.ranks.end());
      counted += here.pods - static_cast<int>(here.ranks.size());
    }
    std::sort(taken_.begin(), taken_.end());
    for (; counted > 0; --counted) next();
  }
  int next() {
    while (at_ < taken_.size() && taken_[at_] == rank_) {
      ++at_;
      ++rank_;
    }
    return rank_++;
  }

 private:
  std::vector<int> taken_;
  std::size_t at_ = 0;
  int rank_ = 0;
};

}  // namespace

void number_ranks(const Fabric& fabric, const domain::Gang& gang, std::vector<PodOnNode> pods,
                  domain::Plan& plan) {
  const auto before = [&](const PodOnNode& a, const PodOnNode& b) {
    return a.node != b.node ? fabric.before(a.node, b.node) : a.pod < b.pod;
  };
  // Usually they are in order already, and comparing whole paths is expensive.
  if (!std::is_sorted(pods.begin(), pods.end(), before))
    std::stable_sort(pods.begin(), pods.end(), before);
  FreeRanks ranks(gang);
  plan.pods.reserve(pods.size());
  for (const PodOnNode& one : pods) plan.pods.push_back({one.pod, one.node, ranks.next(), one.set});
  plan.domains = count_domains(fabric, gang, plan.pods);
}

domain::Plan with_shares(const Fabric& fabric, const domain::Gang& gang, domain::Plan plan,
                         const std::map<FabricNodeId, int>& shares) {
  std::vector<FabricNodeId> nodes;
  nodes.reserve(shares.size());
  for (const auto& [node, pods] : shares) nodes.push_back(node);
  std::sort(nodes.begin(), nodes.end(),
            [&fabric](FabricNodeId a, FabricNodeId b) { return fabric.before(a, b); });
  std::vector<PodOnNode> pods;
  for (const FabricNodeId node : nodes) {
    for (int i = 0; i < shares.at(node); ++i)
      pods.push_back({node, static_cast<int>(pods.size()), domain::kNoSet});
  }
  plan.pods.clear();
  number_ranks(fabric, gang, std::move(pods), plan);
  return plan;
}

std::vector<int> count_domains(const Fabric& fabric, const domain::Gang& gang,
                               const std::vector<domain::PlannedPod>& pods) {
  std::vector<FabricNodeId> nodes;
  for (const domain::PlannedPod& pod : pods)
    if (nodes.empty() || nodes.back() != pod.node) nodes.push_back(pod.node);
  for (const auto& [node, here] : gang.existing)
    if (here.pods > 0) nodes.push_back(node);
  std::vector<int> out(fabric.levels(), 0);
  std::vector<DomainId> used;
  used.reserve(nodes.size());
  for (const FabricNodeId node : nodes) used.push_back(fabric.node(node).domain);
  for (std::size_t level = fabric.levels(); level-- > 0;) {
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    out[level] = static_cast<int>(used.size());
    for (DomainId& at : used) at = fabric.parent(at);
  }
  return out;
}

std::vector<int> fewest_by_chips(const Fabric& fabric, const domain::Gang& gang,
                                 std::int64_t chips) {
  std::vector<std::int64_t> free(fabric.domain_numbers(), 0);
  std::vector<bool> already_used(fabric.domain_numbers(), false);
  for (FabricNodeId id = 0; id < fabric.node_numbers(); ++id) {
    const FabricNode& node = fabric.node(id);
    if (!node.in_use || !node.healthy) continue;
    for (DomainId at = node.domain; at != kNowhere; at = fabric.parent(at)) free[at] += node.free;
  }
  for (const auto& [node, here] : gang.existing) {
    if (here.pods == 0) continue;
    for (DomainId at = fabric.node(node).domain; at != kNowhere; at = fabric.parent(at))
      already_used[at] = true;
  }
  std::vector<int> out;
  for (int level = 0; level < static_cast<int>(fabric.levels()); ++level) {
    std::vector<std::int64_t> capacities;
    std::int64_t rest = chips;
    int used = 0;
    for (const DomainId domain : fabric.domains_of_level(kRootDomain, level)) {
      if (!already_used[domain]) {
        capacities.push_back(free[domain]);
        continue;
      }
      rest -= free[domain];
      ++used;
    }
    std::sort(capacities.begin(), capacities.end(), std::greater<>());
    for (std::size_t i = 0; i < capacities.size() && rest > 0; ++i, ++used) rest -= capacities[i];
    out.push_back(std::max(used, 1));
  }
  return out;
}

}  // namespace chipweave::solver
