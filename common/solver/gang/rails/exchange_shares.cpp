#include "common/solver/gang/rails/exchange_shares.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "common/solver/collectives/all_to_all.hpp"
#include "common/solver/gang/chips/node_chips.hpp"
#include "common/solver/gang/plan_numbers.hpp"
#include "common/solver/gang/rails/chip_options.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::Plan;

// What so many pods get on a node.
struct Inside {
  bool fits = false;
  double gbps = 0;
  std::optional<double> adapters;
};

class Exchange {
 public:
  Exchange(const Fabric& fabric, const Gang& gang, const NodeMachines& machines, const Plan& plan)
      : fabric_(fabric),
        gang_(gang),
        machines_(machines),
        options_(machines, plan.pods.size() > 1) {
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
    bool moved = false;
    std::size_t pods = 0;
    for (const auto& [node, share] : shares_) pods += static_cast<std::size_t>(share);
    for (std::size_t moves = 0; moves < 4 * pods && move_one(); ++moves) moved = true;
    return moved;
  }
  const std::map<FabricNodeId, int>& shares() const { return shares_; }

 private:
  using Worth = std::pair<double, std::int64_t>;  // GB/s, minus the pairs across

  const Inside& inside(FabricNodeId node, int pods) {
    const NodeMachine& machine = machines_.at(node);
    const auto [at, fresh] = known_.try_emplace({machine.machine.get(), machine.topology.get(),
                                                 machine.free.bits(), machine.loaded.bits(), pods});
    Inside& out = at->second;
    if (!fresh) return out;
    const std::vector<int> sizes(static_cast<std::size_t>(pods), gang_.chips_per_pod);
    const GroupChoice choice = choose_for_pods(
        *machine.machine, {machine.free, {}, sizes, true, {}, domain::Objective::all_to_all});
    out.fits = choice.fits;
    if (!choice.fits) return out;
    out.gbps = machine.machine->all_to_all_gbps(choice.chips);
    const NodeRails rails = options_.rails_of(machine, choice.chips);
    if (!rails.unknown.empty()) return out;
    out.adapters = 0;
    for (const Rail& rail : rails.rails) *out.adapters += rail.gbps;
    return out;
  }

  std::optional<Worth> worth() {
    std::vector<AllToAllNode> nodes;
    for (const auto& [node, pods] : shares_) {
      const Inside& here = inside(node, pods);
      if (!here.fits) return std::nullopt;
      nodes.push_back({"", std::int64_t{pods} * gang_.chips_per_pod, here.gbps, here.adapters});
    }
    const AllToAll all = all_to_all(nodes, {});
    const bool known = std::all_of(nodes.begin(), nodes.end(), [](const AllToAllNode& node) {
      return node.adapters_gbps.has_value();
    });
    return Worth{known ? all.gbps.value_or(0) : 0, -all.node_pairs};
  }

  bool move_one() {
    const std::optional<Worth> now = worth();
    if (!now) return false;
    std::optional<Worth> best = now;
    std::pair<FabricNodeId, FabricNodeId> move{kNowhere, kNowhere};
    for (auto& [from, fewer] : shares_) {
      if (fewer < 2) continue;
      for (auto& [to, more] : shares_) {
        if (from == to || more >= fabric_.node(to).max_pods) continue;
        --fewer;
        ++more;
        if (const auto then = worth(); then && better(*then, *best)) {
          best = then;
          move = {from, to};
        }
        ++fewer;
        --more;
      }
    }
    if (move.first == kNowhere) return false;
    --shares_[move.first];
    ++shares_[move.second];
    return true;
  }
  static bool better(const Worth& a, const Worth& b) {
    if (a.first > b.first + kSameRate) return true;
    return a.first > b.first - kSameRate && a.second > b.second;
  }

  using Key =
      std::tuple<const Machine*, const domain::NodeTopology*, std::uint64_t, std::uint64_t, int>;
  const Fabric& fabric_;
  const Gang& gang_;
  const NodeMachines& machines_;
  ChipOptions options_;
  std::map<FabricNodeId, int> shares_;
  std::map<Key, Inside> known_;
};

}  // namespace

Plan exchange_shares(const Fabric& fabric, const Gang& gang, const NodeMachines& machines,
                     Plan plan) {
  Exchange exchange(fabric, gang, machines, plan);
  if (!exchange.possible() || !exchange.run()) return plan;
  return with_shares(fabric, gang, std::move(plan), exchange.shares());
}

}  // namespace chipweave::solver
