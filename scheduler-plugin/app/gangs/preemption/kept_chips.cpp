#include "scheduler-plugin/app/gangs/preemption/kept_chips.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace chipweave::sched {

bool KeptChips::is_same(NodeId id, const Wanted& wanted) const {
  const Node& node = nodes_.node(id);
  return node.life == wanted.life && node.wiring == wanted.wiring;
}

ChipSet KeptChips::kept_of(NodeId node, const Wanted& wanted) const {
  ChipSet out;
  for (const std::string& piece : wanted.pieces) {
    const Holding* held = ledger_.find(piece);
    if (held != nullptr && held->node == node) out |= held->chips;
  }
  return out;
}

void KeptChips::drop(const std::vector<std::string>& pieces) {
  for (const std::string& piece : pieces) {
    if (ledger_.drop(piece)) observer_.on(ReservationEvent::dropped);
  }
}

void KeptChips::want(const std::string& gang, PodKey shown, const ByNode& chips,
                     Clock::Steady until) {
  auto before = std::exchange(wanted_, {});
  if (gang != gang_) {
    for (const auto& [node, wanted] : before) drop(wanted.pieces);
    before.clear();
  }
  gang_ = gang;
  shown_ = std::move(shown);
  until_ = until;
  for (const auto& [id, set] : chips) {
    const Node& node = nodes_.node(id);
    Wanted& wanted = wanted_[id];
    wanted = {set, node.life, node.wiring, {}};
    const auto known = before.find(id);
    if (known == before.end()) continue;
    for (std::string& piece : known->second.pieces) {
      const Holding* held = ledger_.find(piece);
      if (held == nullptr || held->node != id || !set.contains(held->chips)) continue;
      wanted.pieces.push_back(std::exchange(piece, {}));
    }
  }
  for (const auto& [node, wanted] : before) drop(wanted.pieces);
  take_all();
}

void KeptChips::take(NodeId node) {
  const auto wanted = wanted_.find(node);
  if (wanted != wanted_.end()) take(node, wanted->second);
}

void KeptChips::take_all() {
  for (auto& [node, wanted] : wanted_) take(node, wanted);
}

void KeptChips::take(NodeId id, Wanted& wanted) {
  if (!is_same(id, wanted)) return;
  Holding holding;
  holding.chips = wanted.chips & nodes_.node(id).free();
  if (holding.chips.empty()) return;
  // Never a pod's uid, since it contains a line break.
  holding.uid = "\n" + gang_ + "!" + std::to_string(++named_);
  holding.key = shown_;
  holding.node = id;
  // Each at a time of its own: the ledger finds one among equal times by going through them.
  holding.expires = until_ + std::chrono::nanoseconds(named_);
  holding.planned = true;
  holding.spare = true;
  wanted.pieces.push_back(holding.uid);
  ledger_.hold_free(std::move(holding));
  observer_.on(ReservationEvent::held);
}

KeptChips::ByNode KeptChips::kept() const {
  ByNode out;
  for (const auto& [node, wanted] : wanted_) {
    const ChipSet chips = kept_of(node, wanted);
    if (!chips.empty()) out.emplace(node, chips);
  }
  return out;
}

KeptChips::ByNode KeptChips::missing() const {
  ByNode out;
  for (const auto& [node, wanted] : wanted_) {
    const ChipSet chips = wanted.chips - kept_of(node, wanted);
    if (!chips.empty()) out.emplace(node, chips);
  }
  return out;
}

bool KeptChips::usable() const {
  return std::all_of(wanted_.begin(), wanted_.end(), [&](const auto& one) {
    const Node& node = nodes_.node(one.first);
    return is_same(one.first, one.second) &&
           !one.second.chips.intersects(node.unhealthy | node.network_unhealthy);
  });
}

void KeptChips::end() {
  for (const auto& [node, wanted] : std::exchange(wanted_, {})) drop(wanted.pieces);
  gang_.clear();
}

}  // namespace chipweave::sched
