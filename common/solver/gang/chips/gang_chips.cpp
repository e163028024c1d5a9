#include "common/solver/gang/chips/gang_chips.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "common/solver/gang/chips/node_chips.hpp"
#include "common/solver/gang/rails/rate_search.hpp"

namespace chipweave::solver {

std::vector<int> UsedNode::with_chips() const {
  std::vector<int> out;
  std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(out),
               [](int size) { return size > 0; });
  return out;
}

GangChips::GangChips(const std::vector<UsedNode>& nodes, const NodeMachines& machines,
                     bool distributed, domain::Objective objective, double level_gbps)
    : options_(machines, distributed), distributed_(distributed), objective_(objective) {
  find_kinds(nodes);
  choices_.reserve(kinds_.size());
  for (const UsedNode* node : kinds_) choices_.push_back(choose(*node, {}));
  rails_.resize(kinds_.size());
  if (nodes.size() < 2 || !fit() || objective != domain::Objective::bandwidth) return;
  std::vector<std::size_t> known;
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    // Chips of running pods are given: the others are chosen beside them, node by node.
    if (kinds_[kind]->running_chips > 0) return;
    if (kinds_[kind]->machine != nullptr && !kinds_[kind]->with_chips().empty())
      known.push_back(kind);
  }
  if (known.empty()) return;
  const RateVector need = best_need(known, level_gbps);
  for (const std::size_t kind : known) meet_need(kind, need);
}

void GangChips::find_kinds(const std::vector<UsedNode>& nodes) {
  using Kind = std::tuple<NodeState, std::vector<int>, int>;
  std::map<Kind, std::size_t> found;
  kind_of_.reserve(nodes.size());
  for (const UsedNode& node : nodes) {
    const Kind kind(node.machine == nullptr ? NodeState() : state_of(*node.machine), node.sizes,
                    node.running_chips);
    const auto [at, fresh] = found.try_emplace(kind, kinds_.size());
    if (fresh) kinds_.push_back(&node);
    kind_of_.push_back(at->second);
  }
}

const NodeRails& GangChips::rails(std::size_t node) {
  const std::size_t kind = kind_of_[node];
  const NodeMachine& machine = *kinds_[kind]->machine;
  std::optional<NodeRails>& out = rails_[kind];
  if (!out) out = options_.rails_of(machine, choices_[kind].chips | machine.held);
  return *out;
}

GroupChoice GangChips::choose(const UsedNode& node, const std::vector<ChipSet>& among) const {
  if (node.machine == nullptr) return {};
  const NodeMachine& machine = *node.machine;
  return choose_for_pods(
      *machine.machine,
      {machine.free, machine.held, node.sizes, distributed_, objective_, machine.loaded}, among);
}

bool GangChips::fit() const {
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    if (kinds_[kind]->machine != nullptr && !choices_[kind].fits) return false;
  }
  return true;
}

// What the nodes offer together, or more if other chips offer more.
RateVector GangChips::best_need(const std::vector<std::size_t>& known, double level_gbps) {
  std::vector<RateVector> offers;
  std::optional<RateVector> now;
  double crossing = std::numeric_limits<double>::infinity();
  for (const std::size_t kind : known) {
    const NodeMachine& machine = *kinds_[kind]->machine;
    const RateVector mine = options_.rates_of(machine, choices_[kind].chips);
    now = now ? meet(*now, mine) : mine;
    crossing = std::min(crossing, mine.rail_sum());
    for (const ChipOption& option : options_.of(machine, kinds_[kind]->with_chips()))
      offers.push_back(option.rates);
  }
  // Without a common rail rings change rails in the network: chips that are as fast without that
  // are better.
  const double gbps =
      now->rail_sum() > 0 ? gbps_of(*now, true) : std::min(now->chips, crossing) - 2 * kSameRate;
  RateSearch search(std::move(offers), true, level_gbps);
  const auto better = search.best(std::min(level_gbps, gbps),
                                  [this](const RateVector& rates) { return met(rates); });
  return better ? *better : *now;
}

// Other chips for nodes that offer less, or whose chips have no near adapter while others do.
void GangChips::meet_need(std::size_t kind, RateVector need) {
  const UsedNode& node = *kinds_[kind];
  const NodeMachine& machine = *node.machine;
  const ChipSet alone = choices_[kind].chips;
  const RateVector mine = options_.rates_of(machine, alone);
  const bool meets = mine.covers(need);
  const int far = options_.far_chips(machine, alone);
  if (meets && far == 0) return;
  if (meets) need.chips = mine.chips;
  std::vector<ChipSet> sets = options_.sets(machine, node.with_chips(), need);
  int least = meets ? far : static_cast<int>(limits::kMaxChips);
  for (const ChipSet set : sets) least = std::min(least, options_.far_chips(machine, set));
  if (meets && least == far) return;
  std::erase_if(sets, [&](ChipSet set) { return options_.far_chips(machine, set) > least; });
  GroupChoice better = choose(node, sets);
  if (better.fits) choices_[kind] = std::move(better);
}

bool GangChips::met(const RateVector& need) {
  return std::all_of(kinds_.begin(), kinds_.end(), [&](const UsedNode* node) {
    if (node->machine == nullptr || node->with_chips().empty()) return true;
    const auto& options = options_.of(*node->machine, node->with_chips());
    return std::any_of(options.begin(), options.end(),
                       [&need](const ChipOption& option) { return option.rates.covers(need); });
  });
}

}  // namespace chipweave::solver
