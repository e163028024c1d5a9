#include "scheduler-plugin/app/gangs/planning/gang_spares.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace chipweave::sched {
namespace {

constexpr std::chrono::hours kNoEnd{24 * 365};  // they end with the plan

// The spares as further pods of one gang with the slots, which have their seats.
GangLayout with_spares(const GangLayout& layout, int spares) {
  GangLayout out;
  out.resource = layout.resource;
  out.slots = layout.slots;
  out.needs = layout.needs;
  int chips = 0;
  for (const GangSlot& slot : layout.slots) chips = std::max(chips, slot.chips);
  GangSlot spare;
  spare.chips = chips;
  if (!layout.slots.empty()) spare.nodes = layout.slots.front().nodes;
  out.slots.resize(layout.slots.size() + static_cast<std::size_t>(spares), spare);
  domain::Gang& request = out.request;
  request.pods = static_cast<int>(out.slots.size());
  request.chips_per_pod = chips;
  request.required_level = layout.request.required_level;
  request.preferred_level = layout.request.preferred_level;
  request.objective = layout.request.objective;
  return out;
}

}  // namespace

FreedOnNodes GangSpares::freed(const std::string& gang) const {
  FreedOnNodes out;
  const auto at = spares_.find(gang);
  if (at == spares_.end()) return out;
  for (const auto& [node, chips] : at->second.kept.kept())
    out.emplace(node, ToComeFree{chips, nodes_.node(node).room});
  return out;
}

bool GangSpares::is_broken(const Spares& spares) const {
  if (!spares.kept.usable() || !spares.kept.missing().empty()) return true;
  const KeptChips::ByNode kept = spares.kept.kept();
  return std::any_of(kept.begin(), kept.end(), [&](const auto& one) {
    const Node& node = nodes_.node(one.first);
    return node.stale || !state_.standings.is_ready(node.name);
  });
}

bool GangSpares::is_due(const Gang& gang) const {
  const auto at = spares_.find(gang.id);
  if (wanted(gang) == 0) return at != spares_.end();
  if (at == spares_.end()) return true;
  const Spares& spares = at->second;
  return is_broken(spares) ||
         (spares.places < wanted(gang) && clock_.now() - spares.tried >= kRetry);
}

void GangSpares::place(const Gang& gang, const GangLayout& layout, const NodeSet& offered) {
  if (wanted(gang) == 0) return end(gang.id);
  Spares& spares = spares_.try_emplace(gang.id, core_).first->second;
  const GangPlacement placed = beside(gang, layout, offered);
  spares.tried = clock_.now();
  spares.places = 0;
  KeptChips::ByNode chips;
  for (std::size_t i = layout.slots.size(); i < placed.seats.size(); ++i) {
    const GangSeat& seat = placed.seats[i];
    if (seat.node == kNoNode) continue;
    ++spares.places;
    chips[seat.node] |= seat.chips;
  }
  // not the name by which GangPreemption keeps chips for the gang
  spares.kept.want(gang.id + "#spare", {gang.ns, gang.name + " (spare)"}, chips,
                   clock_.now() + kNoEnd);
}

GangPlacement GangSpares::beside(const Gang& gang, const GangLayout& layout,
                                 const NodeSet& offered) {
  const GangLayout whole = with_spares(layout, wanted(gang));
  const FreedOnNodes own = freed(gang.id);
  GangToPlan wanted;
  wanted.layout = &whole;
  wanted.slots = &whole.slots;
  wanted.offered = &offered;
  wanted.to_come = &own;
  wanted.seated.resize(whole.slots.size());
  const std::vector<GangSlot>& slots = plans_.find(gang.id)->slots;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Holding* held = plans_.holding_of(slots[i]);
    wanted.seated[i] = held == nullptr ? GangSeat{} : GangSeat{held->node, held->chips};
  }
  return planner_.plan(wanted);
}

void GangSpares::end(const std::string& gang) {
  const auto at = spares_.find(gang);
  if (at == spares_.end()) return;
  at->second.kept.end();
  spares_.erase(at);
}

void GangSpares::end_all() {
  for (auto& [gang, spares] : spares_) spares.kept.end();
  spares_.clear();
}

void GangSpares::forget_gone() {
  for (auto at = spares_.begin(); at != spares_.end();) {
    const bool gone = plans_.find(at->first) == nullptr;
    if (gone) at->second.kept.end();
    at = gone ? spares_.erase(at) : std::next(at);
  }
}

std::vector<GangSeat> GangSpares::seats(const std::string& gang) const {
  std::vector<GangSeat> out;
  const auto at = spares_.find(gang);
  if (at == spares_.end()) return out;
  for (const auto& [node, chips] : at->second.kept.kept()) out.push_back({node, chips});
  return out;
}

}  // namespace chipweave::sched
