#include "common/solver/gang/rails/exchange_shares.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "common/solver/collectives/all_to_all.hpp"
#include "common/solver/gang/chips/node_chips.hpp"
#include "common/solver/gang/plan_numbers.hpp"
#include "common/solver/gang/rails/chip_options.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::Plan;

constexpr double kNothing = std::numeric_limits<double>::infinity();

// What so many pods on a node let through.
struct Term {
  bool fits = false;
  bool known = false;  // its adapters are
  double gbps = kNothing;
};

class Exchange {
 public:
  Exchange(const Fabric& fabric, const Gang& gang, const NodeMachines& machines, const Plan& plan)
      : fabric_(fabric),
        gang_(gang),
        machines_(machines),
        options_(machines, gang.size() > 1),
        pods_(static_cast<int>(plan.pods.size())) {
    for (const domain::PlannedPod& pod : plan.pods) ++shares_[pod.node];
  }

  bool possible() const {
    return shares_.size() > 1 && shares_.size() <= kMaxExchangeNodes && gang_.slices.empty() &&
           gang_.policy == domain::GangPolicy::compact && gang_.existing.empty() &&
           std::all_of(shares_.begin(), shares_.end(),
                       [this](const auto& share) { return machines_.contains(share.first); });
  }

  // Whether it moved anything.
  bool run() {
    known_adapters_ = true;
    for (const auto& [node, pods] : shares_)
      known_adapters_ = known_adapters_ && term(node, pods).known;
    bool moved = false;
    for (int moves = 0; moves < 4 * pods_ && move_one(); ++moves) moved = true;
    return moved;
  }
  const std::map<FabricNodeId, int>& shares() const { return shares_; }

 private:
  const Term& term(FabricNodeId node, int pods) {
    const NodeMachine& machine = machines_.at(node);
    const auto [at, fresh] = known_.try_emplace({state_of(machine), pods});
    Term& out = at->second;
    if (!fresh) return out;
    const std::vector<int> sizes(static_cast<std::size_t>(pods), gang_.chips_per_pod);
    const GroupChoice choice = choose_for_pods(
        *machine.machine,
        {machine.free, {}, sizes, true, domain::Objective::all_to_all, machine.loaded});
    if (!choice.fits) return out;
    out.fits = true;
    const NodeRails rails = options_.rails_of(machine, choice.chips);
    out.known = rails.unknown.empty();
    AllToAllNode here{"", std::int64_t{pods} * gang_.chips_per_pod,
                      machine.machine->all_to_all_gbps(choice.chips), std::nullopt};
    if (out.known) {
      here.adapters_gbps = 0;
      for (const Rail& rail : rails.rails) *here.adapters_gbps += rail.gbps;
    }
    out.gbps = node_limit(here, std::int64_t{pods_} * gang_.chips_per_pod).value_or(kNothing);
    return out;
  }

  // The three least terms: what is left when a move changes two of them.
  struct Least {
    std::array<std::pair<double, FabricNodeId>, 3> terms;
    double without(FabricNodeId a, FabricNodeId b) const {
      for (const auto& [gbps, node] : terms)
        if (node != a && node != b) return gbps;
      return kNothing;
    }
  };
  Least least_terms() {
    Least out;
    out.terms.fill({kNothing, kNowhere});
    for (const auto& [node, pods] : shares_) {
      std::pair<double, FabricNodeId> next{term(node, pods).gbps, node};
      for (auto& kept : out.terms)
        if (next.first < kept.first) std::swap(next, kept);
    }
    return out;
  }

  // The move of one pod that makes the all-to-all fastest; of equally fast ones, and where adapters
  // are not known, that with the fewest pairs across.
  bool move_one() {
    const Least least = least_terms();
    double best = known_adapters_ ? least.without(kNowhere, kNowhere) : 0;
    int best_gain = 0;  // in squares of shares: more squares are fewer pairs across
    std::pair<FabricNodeId, FabricNodeId> move{kNowhere, kNowhere};
    for (const auto& [from, fewer] : shares_) {
      if (fewer < 2) continue;
      const Term& left = term(from, fewer - 1);
      for (const auto& [to, more] : shares_) {
        if (from == to || more >= fabric_.node(to).max_pods) continue;
        const Term& taken = term(to, more + 1);
        if (!left.fits || !taken.fits) continue;
        const double gbps =
            known_adapters_ ? std::min({left.gbps, taken.gbps, least.without(from, to)}) : 0;
        const int gain = 2 * (more - fewer + 1);
        const bool faster = gbps > best + kSameRate;
        if (!faster && !(gbps > best - kSameRate && gain > best_gain)) continue;
        best = gbps;
        best_gain = gain;
        move = {from, to};
      }
    }
    if (move.first == kNowhere) return false;
    --shares_[move.first];
    ++shares_[move.second];
    return true;
  }

  const Fabric& fabric_;
  const Gang& gang_;
  const NodeMachines& machines_;
  ChipOptions options_;
  int pods_;
  bool known_adapters_ = false;
  std::map<FabricNodeId, int> shares_;
  std::map<std::pair<NodeState, int>, Term> known_;
};

}  // namespace

Plan exchange_shares(const Fabric& fabric, const Gang& gang, const NodeMachines& machines,
                     Plan plan) {
  Exchange exchange(fabric, gang, machines, plan);
  if (!exchange.possible() || !exchange.run()) return plan;
  return with_shares(fabric, gang, std::move(plan), exchange.shares());
}

}  // namespace chipweave::solver
