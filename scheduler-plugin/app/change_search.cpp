#include "scheduler-plugin/app/change_search.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/text.hpp"

namespace chipweave::sched {
namespace {

constexpr std::size_t kMaxChanges = 10;

// Weights by kind: repairs disturb no workload and come first, then ending pods (by their number of
// chips), then requesting less.
constexpr int kAgentBack = 0;
constexpr int kRepair = 1;
constexpr int kEndPods = 10;
constexpr int kFewerMembers = 1000;
constexpr int kFewerChips = 2000;

// " (xid.79: has fallen off the bus)": the agent's fault of the chip with that effect; "" if there
// is none.
std::string cause_of(const Node& node, domain::ChipIndex chip, domain::Effect effect) {
  for (const domain::Fault& fault : node.faults) {
    if (fault.effect != effect || !fault.part.empty() || fault.chip.value_or(chip) != chip)
      continue;
    return " (" + fault.code + (fault.text.empty() ? "" : ": " + fault.text) + ")";
  }
  return "";
}

}  // namespace

std::string chips_word(int n) { return std::to_string(n) + (n == 1 ? " chip" : " chips"); }

std::vector<Change> ChangeSearch::easiest(const RequestContext& context,
                                          const std::vector<std::string_view>& names) {
  collect(context, names);
  std::stable_sort(changes_.begin(), changes_.end(),
                   [](const Change& a, const Change& b) { return a.weight < b.weight; });
  if (changes_.size() > kMaxChanges) changes_.resize(kMaxChanges);
  return std::move(changes_);
}

bool ChangeSearch::budget_exhausted() {
  budget_exhausted_ = budget_exhausted_ || tries_left_ == 0 || clock_.now() >= until_;
  return budget_exhausted_;
}

// Also false when the budget is exhausted: a timely answer is worth more than a complete one.
bool ChangeSearch::fits(const RequestContext& context, const NodeState& state, ChipSet beside) {
  if (budget_exhausted()) return false;
  --tries_left_;
  return evaluator_.answer_of(context, state, beside).verdict.fits();
}

void ChangeSearch::collect(const RequestContext& context,
                           const std::vector<std::string_view>& names) {
  const PodRequest& request = *context.pod;
  std::set<StateId> seen;
  bool fewer_members = false;
  int best_size = 0;
  std::string best_size_node;
  for (const std::string_view name : names) {
    if (budget_exhausted()) break;
    const NodeId id = state_.nodes.find(name);
    if (context.only != kNoNode && id != context.only) continue;
    const StateId state_id = state_.nodes.state_of(id);
    const NodeState state = state_.nodes.state(state_id);
    const ChipSet beside = Evaluator::beside_on(context, id);
    const std::string node(name);
    departures(context, state_id, beside, id);
    if (!seen.insert(state_id).second) continue;
    repairs(context, state, beside, node);
    if (context.members > 1 && !fewer_members)
      fewer_members = smaller_group(context, state, beside, node);
    const int chips = state.wiring->topology().chip_count();
    for (int size = std::min(request.chips - 1, chips); size > best_size; --size) {
      PodRequest smaller = request;
      smaller.chips = size;
      RequestContext less = context;
      less.pod = &smaller;
      if (!fits(less, state, beside)) continue;
      best_size = size;
      best_size_node = node;
    }
  }
  if (best_size > 0) {
    changes_.push_back(
        {kFewerChips + request.chips - best_size, "smaller_size", best_size_node,
         "if it requested " + chips_word(best_size) + " (fits on " + best_size_node + ")"});
  }
}

void ChangeSearch::repairs(const RequestContext& context, const NodeState& state, ChipSet beside,
                           const std::string& node) {
  if (state.stale) {
    NodeState fresh = state;
    fresh.stale = false;
    if (fits(context, fresh, beside)) {
      changes_.push_back(
          {kAgentBack, "agent", node, "if the agent of " + node + " reported again"});
    }
    return;
  }
  if (state.closed) {
    NodeState open = state;
    open.closed = false;
    if (fits(context, open, beside)) {
      changes_.push_back(
          {kAgentBack, "device_plugin", node, "if the device plugin of " + node + " were ready"});
    }
    return;
  }
  const domain::NodeTopology& topology = state.wiring->topology();
  const Node& known = state_.nodes.node(state_.nodes.find(node));
  const ChipSet withheld = state.unhealthy - known.taken - known.reported_unhealthy;
  if (!withheld.empty()) {
    NodeState open = state;
    open.unhealthy -= withheld;
    open.free |= withheld;
    if (fits(context, open, beside)) {
      changes_.push_back(
          {kRepair, "hand_over", node,
           "if chips " + comma_list(topology.indices(withheld)) + " of " + node +
               " could be handed over" +
               cause_of(known, topology.chip(withheld.lowest()).index, domain::Effect::unusable)});
    }
  }
  for (const int slot : state.unhealthy - known.taken - withheld) {
    NodeState well = state;
    well.unhealthy.erase(slot);
    well.network_unhealthy.erase(slot);
    well.free.insert(slot);
    if (!fits(context, well, beside)) continue;
    const domain::ChipIndex index = topology.chip(slot).index;
    changes_.push_back({kRepair, "chip", node,
                        "if chip " + std::to_string(index.value) + " on " + node +
                            " were healthy again" +
                            cause_of(known, index, domain::Effect::unusable)});
  }
  if (!context.distributed) return;
  for (const int slot : state.network_unhealthy& state.free) {
    NodeState well = state;
    well.network_unhealthy.erase(slot);
    if (!fits(context, well, beside)) continue;
    const domain::ChipIndex index = topology.chip(slot).index;
    changes_.push_back({kRepair, "network_port", node,
                        "if the network port of chip " + std::to_string(index.value) + " on " +
                            node + " were healthy again" +
                            cause_of(known, index, domain::Effect::network)});
  }
}

// One pod whose end is enough; otherwise the fewest, smallest first. Nodes of one state differ in
// the holders of their chips, but freeing the same chips has the same effect on all of them.
void ChangeSearch::departures(const RequestContext& context, StateId state_id, ChipSet beside,
                              NodeId id) {
  const std::string& node = state_.nodes.node(id).name;
  const NodeState state = state_.nodes.state(state_id);
  std::vector<const Holding*> holders = state_.ledger.on(id);
  std::erase_if(holders, [](const auto* h) { return h->parts; });  // others may share its chips
  if (!worth(least_weight(context, state, holders))) return;
  std::stable_sort(holders.begin(), holders.end(),
                   [](const auto* a, const auto* b) { return a->chips.size() < b->chips.size(); });
  const auto without = [&](const std::vector<const Holding*>& gone) {
    ChipSet back;
    for (const Holding* h : gone) back |= h->chips;
    const auto [known, fresh] =
        without_.try_emplace({state_id, back.bits(), (beside - back).bits()}, false);
    if (!fresh) return known->second;
    NodeState after = state;
    after.free |= back - state.unhealthy;
    const bool enough = after.free.size() >= std::min(context.pod->chips, limits::kMaxChips) &&
                        fits(context, after, beside - back);
    known->second = enough;
    return enough;
  };
  bool single = false;
  for (const Holding* h : holders) {
    if (single && !worth(kEndPods + h->chips.size())) break;
    if (!without({h})) continue;
    single = true;
    add_ending({kEndPods + h->chips.size(), "pod", node,
                "if pod " + h->key.text() + " (" + chips_word(h->chips.size()) + ") on " + node +
                    " ended"});
  }
  if (single || holders.size() < 2) return;
  std::vector<const Holding*> gone;
  int chips = 0;
  for (const Holding* h : holders) {
    gone.push_back(h);
    chips += h->chips.size();
    if (without(gone)) break;
  }
  if (!without(gone)) return;
  // keep those whose end is not needed, largest first
  for (std::size_t i = gone.size(); i-- > 0;) {
    std::vector<const Holding*> fewer = gone;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (!without(fewer)) continue;
    chips -= gone[i]->chips.size();
    gone = std::move(fewer);
  }
  const int weight = kEndPods + chips + 64 * static_cast<int>(gone.size() - 1);
  if (!worth(weight)) return;
  std::string list;
  for (const Holding* h : gone) list += (list.empty() ? "" : ", ") + h->key.text();
  add_ending({weight, "pods", node,
              "if pods " + list + " (" + chips_word(chips) + ") on " + node + " ended"});
}

// No end of some of these pods that is enough weighs less.
int ChangeSearch::least_weight(const RequestContext& context, const NodeState& state,
                               const std::vector<const Holding*>& holders) {
  int most = 1;
  for (const Holding* h : holders) most = std::max(most, h->chips.size());
  const int asked = std::min(context.pod->chips, limits::kMaxChips);
  const int missing = std::max(1, asked - state.free.size());
  const int pods = (missing + most - 1) / most;
  return kEndPods + missing + 64 * (pods - 1);
}

// Whether a change of this weight would be among those shown.
bool ChangeSearch::worth(int weight) const {
  return endings_.size() < kMaxChanges || weight < *endings_.rbegin();
}

void ChangeSearch::add_ending(Change change) {
  endings_.insert(change.weight);
  if (endings_.size() > kMaxChanges) endings_.erase(std::prev(endings_.end()));
  changes_.push_back(std::move(change));
}

bool ChangeSearch::smaller_group(const RequestContext& context, const NodeState& state,
                                 ChipSet beside, const std::string& node) {
  const int room = state.wiring->topology().chip_count() / context.pod->chips;
  for (int members = std::min(context.members - 1, room); members >= 1; --members) {
    RequestContext less = context;
    less.members = members;
    if (!fits(less, state, beside)) continue;
    changes_.push_back(
        {kFewerMembers + context.members - members, "smaller_group", node,
         "if " + std::to_string(members) + " pods of its group were enough (fit on " + node + ")"});
    return true;
  }
  return false;
}

}  // namespace chipweave::sched
