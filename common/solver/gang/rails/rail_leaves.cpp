#include "common/solver/gang/rails/rail_leaves.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/solver/gang/planner.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::Plan;

class LeafAligner {
 public:
  LeafAligner(const Fabric& fabric, const std::vector<std::string>& levels, const Gang& gang,
              const RailLeaves& leaves, const std::function<double(const Plan&)>& gbps)
      : fabric_(fabric), levels_(levels), gang_(gang), leaves_(leaves), gbps_(gbps) {}

  Plan align(Plan first) {
    const int sets = leaf_sets(leaves_, first);
    if (sets < 2) return first;
    const double now = gbps_(first);
    int tries = 0;
    for (const std::vector<int>& some : subsets(sets)) {
      if (++tries > kMaxLeafPlans) break;
      if (auto plan = plan_on(some, first, now)) return *std::move(plan);
    }
    return first;
  }

 private:
  // Fewer than so many sets with room for the gang together, the fewest first, then those with the
  // most room; out of the kMaxSets with the most room.
  std::vector<std::vector<int>> subsets(int fewer_than) const {
    constexpr std::size_t kMaxSets = 6;
    std::vector<std::pair<std::int64_t, int>> by_room;
    std::int64_t anywhere = 0;  // on nodes whose leaves are not known
    std::map<int, std::int64_t> rooms;
    for (FabricNodeId id = 0; id < fabric_.node_numbers() && id < leaves_.size(); ++id) {
      const FabricNode& node = fabric_.node(id);
      if (!node.in_use || !node.healthy) continue;
      const int fit = gang_.chips_per_pod > 0 ? node.free / gang_.chips_per_pod : gang_.pods;
      const int room = std::min({fit, node.max_pods, gang_.pods});
      (leaves_[id] == kNoLeaves ? anywhere : rooms[leaves_[id]]) += room;
    }
    by_room.reserve(rooms.size());
    for (const auto& [set, room] : rooms) by_room.emplace_back(-room, set);
    std::sort(by_room.begin(), by_room.end());
    by_room.resize(std::min(by_room.size(), kMaxSets));
    struct Subset {
      int count = 0;
      std::int64_t room = 0;
      std::vector<int> sets;
    };
    std::vector<Subset> found;
    for (unsigned mask = 1; mask < 1U << by_room.size(); ++mask) {
      Subset subset{0, anywhere, {}};
      for (std::size_t i = 0; i < by_room.size(); ++i) {
        if ((mask >> i & 1U) == 0) continue;
        ++subset.count;
        subset.room -= by_room[i].first;
        subset.sets.push_back(by_room[i].second);
      }
      if (subset.count < fewer_than && subset.room >= gang_.pods) found.push_back(subset);
    }
    std::stable_sort(found.begin(), found.end(), [](const Subset& a, const Subset& b) {
      return a.count != b.count ? a.count < b.count : a.room > b.room;
    });
    std::vector<std::vector<int>> out;
    out.reserve(found.size());
    for (Subset& subset : found) out.push_back(std::move(subset.sets));
    return out;
  }

  std::optional<Plan> plan_on(const std::vector<int>& sets, const Plan& first, double now) const {
    Fabric limited = fabric_;
    for (FabricNodeId id = 0; id < limited.node_numbers() && id < leaves_.size(); ++id) {
      if (!limited.node(id).in_use || leaves_[id] == kNoLeaves ||
          std::find(sets.begin(), sets.end(), leaves_[id]) != sets.end())
        continue;
      limited.set_max_pods(id, 0);
    }
    Plan plan = plan_gang(limited, levels_, gang_);
    const bool as_good = plan.fits && plan.pods.size() == first.pods.size() &&
                         plan.domains == first.domains && nodes_used(plan) <= nodes_used(first);
    if (!as_good || leaf_sets(leaves_, plan) >= leaf_sets(leaves_, first)) return std::nullopt;
    constexpr double kEqual = 1 - 1e-9;
    if (gbps_(plan) < kEqual * now) return std::nullopt;
    plan.optimal = first.optimal;  // its domains are as few
    plan.bound = first.bound;
    return plan;
  }

  const Fabric& fabric_;
  const std::vector<std::string>& levels_;
  const Gang& gang_;
  const RailLeaves& leaves_;
  const std::function<double(const Plan&)>& gbps_;
};

}  // namespace

int leaf_sets(const RailLeaves& leaves, const Plan& plan) {
  std::set<int> sets;
  for (const domain::PlannedPod& pod : plan.pods) {
    if (pod.node < leaves.size() && leaves[pod.node] != kNoLeaves) sets.insert(leaves[pod.node]);
  }
  return static_cast<int>(sets.size());
}

Plan align_leaves(const Fabric& fabric, const std::vector<std::string>& level_names,
                  const Gang& gang, const RailLeaves& leaves,
                  const std::function<double(const Plan&)>& gbps, Plan first) {
  if (leaves.empty() || gang.failed || gang.spare || gang.policy == domain::GangPolicy::even)
    return first;
  return LeafAligner(fabric, level_names, gang, leaves, gbps).align(std::move(first));
}

}  // namespace chipweave::solver
