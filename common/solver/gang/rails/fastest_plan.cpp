#include "common/solver/gang/rails/fastest_plan.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "common/solver/gang/plan_numbers.hpp"
#include "common/solver/gang/planner.hpp"
#include "common/solver/gang/rails/chip_options.hpp"
#include "common/solver/gang/rails/rate_search.hpp"
#include "common/solver/gang/spare_nodes.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::Plan;

constexpr int kMaxAttempts = 4;  // plans for one need

using Shares = std::map<FabricNodeId, int>;  // pods by node

Shares shares_of(const Plan& plan) {
  Shares out;
  for (const domain::PlannedPod& pod : plan.pods) ++out[pod.node];
  return out;
}

// Whether state_of() is the same for both.
bool alike(const NodeMachine& a, const NodeMachine& b) {
  return a.machine == b.machine && a.topology == b.topology && a.free == b.free &&
         a.held == b.held && a.loaded == b.loaded && a.down_nics == b.down_nics;
}

// Nodes whose pods get the same chips, and what so many of them get.
struct NodeClass {
  std::vector<FabricNodeId> nodes;
  std::vector<const std::vector<ChipOption>*> by_pods;  // of k + 1 pods; ends where no more fit

  bool meets(int pods, const RateVector& need) const {
    const auto k = static_cast<std::size_t>(pods) - 1;
    if (pods < 1 || k >= by_pods.size()) return false;
    return std::any_of(by_pods[k]->begin(), by_pods[k]->end(),
                       [&](const ChipOption& option) { return option.rates.covers(need); });
  }
};

class FastestPlan {
 public:
  FastestPlan(const Fabric& fabric, const std::vector<std::string>& levels, const Gang& gang,
              const NodeMachines& machines, double level_gbps)
      : fabric_(fabric),
        levels_(levels),
        gang_(gang),
        level_gbps_(level_gbps),
        options_(machines, gang.size() > 1) {
    find_classes(machines);
  }

  Plan run(Plan first) {
    const bool several = nodes_used(first) > 1;
    std::vector<RateVector> offers;
    for (const NodeClass& one : classes_) {
      for (const std::vector<ChipOption>* options : one.by_pods) {
        for (const ChipOption& option : *options) offers.push_back(option.rates);
      }
    }
    RateSearch search(std::move(offers), several, level_gbps_);
    const double now = std::min(level_gbps_, gbps(first, several));
    int plans = 0;
    std::optional<Plan> found;
    search.best(now, [&](const RateVector& need) {
      if (++plans > kMaxPlans) return true;
      found = plan_for(need, first);
      return found.has_value();
    });
    return found ? *std::move(found) : std::move(first);
  }

 private:
  void find_classes(const NodeMachines& machines) {
    std::map<NodeState, std::size_t> known;
    class_of_node_.assign(machines.empty() ? 0 : std::prev(machines.end())->first + 1, kNoClass);
    known_nodes_ = machines.size();
    const NodeMachine* before = nullptr;
    std::size_t of_before = 0;
    for (const auto& [node, machine] : machines) {
      // neighbours are mostly alike
      if (before == nullptr || !alike(*before, machine)) {
        const auto [at, fresh] = known.try_emplace(state_of(machine), classes_.size());
        if (fresh) classes_.push_back(class_of(machine));
        of_before = at->second;
      }
      before = &machine;
      classes_[of_before].nodes.push_back(node);
      class_of_node_[node] = of_before;
    }
  }

  NodeClass class_of(const NodeMachine& machine) {
    NodeClass out;
    const int most = std::min(gang_.pods, machine.free.size() / gang_.chips_per_pod);
    for (int k = 1; k <= most; ++k) {
      const auto& options =
          options_.of(machine, std::vector<int>(static_cast<std::size_t>(k), gang_.chips_per_pod));
      if (options.empty()) break;
      out.by_pods.push_back(&options);
    }
    return out;
  }

  const NodeClass* class_of(FabricNodeId node) const {
    const bool known = node < class_of_node_.size() && class_of_node_[node] != kNoClass;
    return known ? &classes_[class_of_node_[node]] : nullptr;
  }

  // What the plan can get by the choice of chips alone. Without a common rail rings change rails in
  // the network: a plan that is as fast without that is better.
  double gbps(const Plan& plan, bool several) const {
    std::vector<RateVector> offers;
    std::vector<std::pair<const NodeClass*, int>> used;
    double crossing = std::numeric_limits<double>::infinity();
    for (const auto& [node, pods] : shares_of(plan)) {
      const NodeClass* one = class_of(node);
      if (one == nullptr || static_cast<std::size_t>(pods) > one->by_pods.size()) continue;
      used.emplace_back(one, pods);
      double most = 0;
      for (const ChipOption& option : *one->by_pods[static_cast<std::size_t>(pods) - 1]) {
        offers.push_back(option.rates);
        most = std::max(most, gbps_of(option.rates, several));
      }
      crossing = std::min(crossing, most);
    }
    RateSearch search(std::move(offers), several, level_gbps_);
    const auto need = search.best(0, [&used](const RateVector& rates) {
      return std::all_of(used.begin(), used.end(), [&rates](const auto& node) {
        return node.first->meets(node.second, rates);
      });
    });
    return need ? gbps_of(*need, several) : crossing - 2 * kSameRate;
  }

  // A plan as good as `first` otherwise whose nodes all meet the need.
  std::optional<Plan> plan_for(const RateVector& need, const Plan& first) {
    std::int64_t capacity = 0;
    std::vector<int> most(classes_.size(), 0);
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      for (int k = static_cast<int>(classes_[c].by_pods.size()); k > 0 && most[c] == 0; --k) {
        if (classes_[c].meets(k, need)) most[c] = k;
      }
      capacity +=
          static_cast<std::int64_t>(most[c]) * static_cast<std::int64_t>(classes_[c].nodes.size());
    }
    const auto others = static_cast<std::int64_t>(fabric_.size() - known_nodes_);
    if (others == 0 && capacity < static_cast<std::int64_t>(first.pods.size())) return std::nullopt;
    Fabric limited = fabric_;
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      for (const FabricNodeId node : classes_[c].nodes)
        limited.set_max_pods(node, std::min(most[c], limited.node(node).max_pods));
    }
    for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
      Plan plan = plan_gang(limited, levels_, gang_);
      if (!as_good(plan, first)) return std::nullopt;
      Shares shares = shares_of(plan);
      if (all_meet(shares, need)) return plan;
      if (share_otherwise(shares, limited, need))
        return with_shares(fabric_, gang_, std::move(plan), shares);
      // Without the node that needs the most pods; others may need fewer.
      limited.set_max_pods(neediest(shares_of(plan), limited, need), 0);
    }
    return std::nullopt;
  }

  // The fewest pods with which a node meets the need; more than it takes: none.
  int least_pods(FabricNodeId node, const Fabric& limited, const RateVector& need) const {
    int least = 1;
    while (least <= limited.node(node).max_pods && !meets(node, least, need)) ++least;
    return least;
  }
  FabricNodeId neediest(const Shares& shares, const Fabric& limited, const RateVector& need) const {
    return std::max_element(shares.begin(), shares.end(),
                            [&](const auto& a, const auto& b) {
                              return least_pods(a.first, limited, need) <
                                     least_pods(b.first, limited, need);
                            })
        ->first;
  }

  bool as_good(const Plan& plan, const Plan& first) const {
    if (!plan.fits || plan.pods.size() < first.pods.size() || plan.domains != first.domains ||
        nodes_used(plan) > nodes_used(first))
      return false;
    if (gang_.policy == domain::GangPolicy::even && sorted_shares(plan) != sorted_shares(first))
      return false;
    return !gang_.spare || !leaves_spare(first) || leaves_spare(plan);
  }
  static std::vector<int> sorted_shares(const Plan& plan) {
    std::vector<int> out;
    for (const auto& [node, pods] : shares_of(plan)) out.push_back(pods);
    std::sort(out.begin(), out.end());
    return out;
  }
  bool leaves_spare(const Plan& plan) const {
    std::vector<FabricNodeId> used;
    for (const auto& [node, pods] : shares_of(plan)) used.push_back(node);
    for (const auto& [node, here] : gang_.existing) used.push_back(node);
    return SpareNodes(fabric_, *gang_.spare).left_by(std::move(used));
  }

  bool meets(FabricNodeId node, int pods, const RateVector& need) const {
    const NodeClass* one = class_of(node);
    return one == nullptr || one->meets(pods, need);
  }
  bool all_meet(const Shares& shares, const RateVector& need) const {
    return std::all_of(shares.begin(), shares.end(),
                       [&](const auto& share) { return meets(share.first, share.second, need); });
  }

  // Moves pods between the nodes used so that all meet the need: fewer pods use fewer rails, so the
  // node with the remainder gets as many as it needs. Where shares are not given by a rule.
  bool share_otherwise(Shares& shares, const Fabric& limited, const RateVector& need) const {
    if (!gang_.slices.empty() || gang_.policy == domain::GangPolicy::even ||
        !gang_.existing.empty())
      return false;
    int wanted = 0;
    for (auto& [node, pods] : shares) {
      int least = pods;
      while (least <= limited.node(node).max_pods && !meets(node, least, need)) ++least;
      if (least > limited.node(node).max_pods) return false;
      wanted += least - pods;
      pods = least;
    }
    for (auto& [node, pods] : shares) {
      while (wanted > 0 && pods > 1 && meets(node, pods - 1, need)) {
        --pods;
        --wanted;
      }
    }
    return wanted == 0 && all_meet(shares, need);
  }

  const Fabric& fabric_;
  const std::vector<std::string>& levels_;
  const Gang& gang_;
  double level_gbps_;
  ChipOptions options_;
  std::vector<NodeClass> classes_;
  static constexpr std::size_t kNoClass = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> class_of_node_;  // by node; kNoClass: its machine is not known
  std::size_t known_nodes_ = 0;
};

}  // namespace

double least_level_gbps(const Plan& plan, const std::vector<std::optional<double>>& level_gbps) {
  double out = std::numeric_limits<double>::infinity();
  for (std::size_t level = 0; level < std::min(plan.domains.size(), level_gbps.size()); ++level) {
    if (plan.domains[level] > 1 && level_gbps[level]) out = std::min(out, *level_gbps[level]);
  }
  return out;
}

Plan fastest_plan(const Fabric& fabric, const std::vector<std::string>& level_names,
                  const Gang& gang, const NodeMachines& machines,
                  const std::vector<std::optional<double>>& level_gbps, Plan first) {
  const double level = least_level_gbps(first, level_gbps);
  return FastestPlan(fabric, level_names, gang, machines, level).run(std::move(first));
}

}  // namespace chipweave::solver
