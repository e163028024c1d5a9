#include "common/solver/gang/defrag/defrag_chips.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "common/solver/gang/chips/legal_split.hpp"
#include "common/solver/gang/chips/node_chips.hpp"

namespace chipweave::solver {
namespace {

bool any_set_is_legal(const domain::NodeTopology& topology) {
  return topology.rule().kind == domain::RuleKind::any && topology.partitions().empty();
}

ChipSet for_pods(const domain::NodeTopology& topology, ChipSet usable, bool distributed) {
  return distributed ? usable - topology.network_unhealthy() : usable;
}

}  // namespace

DefragChips::DefragChips(NodeMachines machines, std::vector<PodChips> pods)
    : machines_(std::move(machines)), pods_(std::move(pods)) {
  for (std::size_t i = 0; i < pods_.size(); ++i)
    if (machines_.contains(pods_[i].node)) pods_on_[pods_[i].node].push_back(i);
}

const NodeMachine* DefragChips::machine(std::uint32_t node) const {
  const auto known = machines_.find(node);
  return known == machines_.end() ? nullptr : &known->second;
}

int DefragChips::released(std::size_t pod) const {
  const NodeMachine* node = machine(pods_[pod].node);
  if (node == nullptr) return pods_[pod].size;
  return (pods_[pod].held - node->topology->unhealthy()).size();
}

bool DefragChips::restricts(std::uint32_t id) const {
  const NodeMachine* node = machine(id);
  return node != nullptr &&
         !(any_set_is_legal(*node->topology) && node->topology->network_unhealthy().empty());
}

ChipSet DefragChips::usable(const NodeMachine& node,
                            const std::vector<std::size_t>& leaving) const {
  ChipSet out = node.free;
  for (const std::size_t pod : leaving) out |= pods_[pod].held;
  return out - node.topology->unhealthy();
}

DefragChips::Key DefragChips::key_of(const NodeMachine& node,
                                     const std::vector<std::size_t>& leaving,
                                     const std::vector<std::size_t>& arriving) const {
  Sizes sizes;
  for (const std::size_t pod : arriving)
    sizes.emplace_back(!pods_[pod].gang.empty(), pods_[pod].size);
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  return {node.machine.get(), usable(node, leaving).bits(), std::move(sizes)};
}

bool DefragChips::fits(std::uint32_t id, const std::vector<std::size_t>& leaving,
                       const std::vector<std::size_t>& arriving) {
  const NodeMachine* node = machine(id);
  if (node == nullptr || arriving.empty()) return true;
  Key key = key_of(*node, leaving, arriving);
  if (const auto at = known_.find(key); at != known_.end()) return at->second;
  const bool fit = fit_together(*node, ChipSet(std::get<1>(key)), std::get<2>(key));
  // Some rules depend on what else is free, so one more chip may make a set illegal.
  if (!fit && (arriving.size() > 1 || !leaving.empty())) uncertain_ = true;
  known_.emplace(std::move(key), fit);
  return fit;
}

void DefragChips::forbid(std::uint32_t id, const std::vector<std::size_t>& leaving,
                         const std::vector<std::size_t>& arriving) {
  known_[key_of(machines_.at(id), leaving, arriving)] = false;
  uncertain_ = true;
}

bool DefragChips::fit_together(const NodeMachine& node, ChipSet usable, const Sizes& sizes) {
  int distributed = 0;
  int all = 0;
  for (const auto& [one_of_several, size] : sizes) {
    all += size;
    if (one_of_several) distributed += size;
  }
  if (all > usable.size() || distributed > for_pods(*node.topology, usable, true).size())
    return false;
  if (any_set_is_legal(*node.topology)) return true;
  if (sizes.size() == 1) {
    const ChipSet chips = for_pods(*node.topology, usable, sizes.front().first);
    return node.machine->fits({chips, {}, {}, sizes.front().second, sizes.front().first});
  }
  if (++dealt_ > kMaxDealt) return false;
  ChipSet rest = usable;
  bool fit = true;
  for (std::size_t i = 0; fit && i < sizes.size(); ++i) {
    const ChipSet chips = for_pods(*node.topology, rest, sizes[i].first);
    const Choice choice = node.machine->choose({chips, {}, {}, sizes[i].second, sizes[i].first});
    fit = choice.fits;
    rest -= choice.chips;
  }
  if (fit || distributed < all) return fit;
  std::vector<int> numbers;
  for (const auto& [one_of_several, size] : sizes) numbers.push_back(size);
  std::uint64_t steps = kMaxFitSteps;
  return splits_legally(*node.machine, for_pods(*node.topology, usable, true), numbers, true, steps)
      .value_or(false);
}

// Positions in `arriving`: pods of several first, since they may use fewer chips, then the largest.
std::vector<std::size_t> DefragChips::in_turn(const std::vector<std::size_t>& arriving) const {
  std::vector<std::size_t> out(arriving.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
    const PodChips& x = pods_[arriving[a]];
    const PodChips& y = pods_[arriving[b]];
    if (x.gang.empty() != y.gang.empty()) return y.gang.empty();
    return x.size > y.size;
  });
  return out;
}

ChipSet DefragChips::held_by(const std::string& gang, std::uint32_t node,
                             const std::vector<std::size_t>& leaving) const {
  ChipSet out;
  const auto here = pods_on_.find(node);
  if (gang.empty() || here == pods_on_.end()) return out;
  for (const std::size_t pod : here->second)
    if (pods_[pod].gang == gang && std::find(leaving.begin(), leaving.end(), pod) == leaving.end())
      out |= pods_[pod].held;
  return out;
}

// The pods that get a joint set, in their turn: those of one gang, or all that belong to any.
std::vector<std::vector<std::size_t>> DefragChips::groups(const std::vector<std::size_t>& turns,
                                                          const std::vector<std::size_t>& arriving,
                                                          bool by_gang) const {
  std::vector<std::vector<std::size_t>> out;
  std::map<std::string, std::size_t> group_of;
  for (const std::size_t turn : turns) {
    const std::string& gang = pods_[arriving[turn]].gang;
    std::size_t group = out.size();
    if (!gang.empty()) group = group_of.try_emplace(by_gang ? gang : "", group).first->second;
    if (group == out.size()) out.emplace_back();
    out[group].push_back(turn);
  }
  return out;
}

std::optional<std::vector<ChipSet>> DefragChips::deal(std::uint32_t id,
                                                      const std::vector<std::size_t>& leaving,
                                                      const std::vector<std::size_t>& arriving) {
  const NodeMachine& node = machines_.at(id);
  const std::vector<std::size_t> turns = in_turn(arriving);
  std::vector<std::vector<std::size_t>> alone;
  alone.reserve(turns.size());
  for (const std::size_t turn : turns) alone.push_back({turn});
  for (const auto& deal : {groups(turns, arriving, true), alone, groups(turns, arriving, false)}) {
    std::vector<ChipSet> out(arriving.size());
    ChipSet rest = usable(node, leaving);
    bool fit = true;
    for (const std::vector<std::size_t>& group : deal) {
      const std::string& gang = pods_[arriving[group.front()]].gang;
      GroupRequest request;
      request.distributed = !gang.empty();
      request.usable = for_pods(*node.topology, rest, request.distributed);
      request.already_held = held_by(gang, id, leaving);
      for (const std::size_t turn : group) request.sizes.push_back(pods_[arriving[turn]].size);
      const GroupChoice choice = choose_for_pods(*node.machine, request);
      fit = choice.fits;
      if (!fit) break;
      for (std::size_t k = 0; k < group.size(); ++k) out[group[k]] = choice.parts[k];
      rest -= choice.chips;
    }
    if (fit) return out;
  }
  return std::nullopt;
}

}  // namespace chipweave::solver
