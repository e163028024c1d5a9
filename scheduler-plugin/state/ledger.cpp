#include "scheduler-plugin/state/ledger.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace chipweave::sched {

const Holding* Ledger::find(std::string_view uid) const {
  const auto it = holdings_.find(uid);
  return it == holdings_.end() ? nullptr : &it->second;
}

const std::vector<const Holding*>& Ledger::on(NodeId node) const {
  static const std::vector<const Holding*> none;
  return node < on_.size() ? on_[node] : none;
}

Result<void> Ledger::hold(Holding holding) {
  if (holdings_.contains(holding.uid)) {
    return make_error(Errc::conflict, "pod " + holding.key.text() + " holds chips already");
  }
  const ChipSet taken = nodes_.node(holding.node).taken;
  if (taken.intersects(holding.chips)) {
    return make_error(Errc::conflict, "a chip for " + holding.key.text() + " is taken already");
  }
  const NodeId node = holding.node;
  std::string uid = holding.uid;
  if (!holding.bound) promises_.emplace(holding.expires, uid);
  const ChipSet chips = holding.chips;
  const auto it = holdings_.emplace(std::move(uid), std::move(holding)).first;
  if (on_.size() <= node) on_.resize(node + 1);
  on_[node].push_back(&it->second);
  nodes_.set_taken(node, taken | chips);
  check();
  return {};
}

void Ledger::forget_promise(const Holding& holding) {
  const auto [begin, end] = promises_.equal_range(holding.expires);
  const auto it = std::find_if(begin, end, [&](const auto& p) { return p.second == holding.uid; });
  if (it != end) promises_.erase(it);
}

void Ledger::confirm(std::string_view uid) {
  Holding& holding = holdings_.find(uid)->second;
  if (!holding.bound) forget_promise(holding);
  holding.bound = true;
  check();
}

void Ledger::extend(std::string_view uid, Clock::Steady expires) {
  const auto it = holdings_.find(uid);
  if (it == holdings_.end() || it->second.bound) return;
  forget_promise(it->second);
  it->second.expires = expires;
  promises_.emplace(expires, it->second.uid);
}

void Ledger::claim(std::string_view from, const std::string& uid, const PodKey& key) {
  const auto it = holdings_.find(from);
  if (it == holdings_.end() || holdings_.contains(uid)) throw std::logic_error("claim of no part, or twice");
  Holding holding = it->second;
  if (!holding.bound) forget_promise(holding);
  auto& here = on_[holding.node];
  const auto place = std::find(here.begin(), here.end(), &it->second);
  holdings_.erase(it);
  holding.uid = uid;
  holding.key = key;
  if (!holding.bound) promises_.emplace(holding.expires, uid);
  *place = &holdings_.emplace(uid, std::move(holding)).first->second;
  check();
}

bool Ledger::drop(std::string_view uid) {
  const auto it = holdings_.find(uid);
  if (it == holdings_.end()) return false;
  const Holding& holding = it->second;
  if (!holding.bound) forget_promise(holding);
  auto& here = on_[holding.node];
  here.erase(std::find(here.begin(), here.end(), &holding));
  nodes_.set_taken(holding.node, nodes_.node(holding.node).taken - holding.chips);
  holdings_.erase(it);
  check();
  return true;
}

std::vector<Holding> Ledger::expire(Clock::Steady now) {
  std::vector<Holding> gone;
  while (!promises_.empty() && promises_.begin()->first <= now) {
    const std::string uid = promises_.begin()->second;
    gone.push_back(holdings_.find(uid)->second);
    drop(uid);
  }
  return gone;
}

void Ledger::move_slots(NodeId node, const std::vector<int>& moves) {
  if (node >= on_.size()) return;
  ChipSet taken;
  for (const Holding* h : on_[node]) {
    Holding& holding = holdings_.find(h->uid)->second;
    ChipSet moved;
    for (const int slot : holding.chips) {
      const int to = moves[static_cast<std::size_t>(slot)];
      if (to >= 0) moved.insert(to);
    }
    holding.chips = moved;
    taken |= moved;
  }
  nodes_.set_taken(node, taken);
  check();
}

std::string Ledger::check_invariants() const {
  std::size_t seen = 0;
  std::size_t promised = 0;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_.node(id);
    ChipSet sum;
    for (const Holding* h : on(id)) {
      if (h->node != id) return "a holding of " + h->uid + " is listed on the wrong node " + node.name;
      if (sum.intersects(h->chips)) return "a chip of " + node.name + " is given twice, also to " + h->uid;
      sum |= h->chips;
      ++seen;
      promised += h->bound ? 0U : 1U;
    }
    if (sum != node.taken) return "taken chips of " + node.name + " are not those of its pods";
    if (!node.topology.all().contains(sum)) return "chips are held that " + node.name + " does not have";
    if (node.free().intersects(sum | node.unhealthy)) return "a chip of " + node.name + " is in two states";
  }
  if (seen != holdings_.size()) return "a holding is on no node";
  if (promised != promises_.size()) return "the list of promises does not match the holdings";
  return {};
}

// In debug builds after every operation, as long as that stays affordable.
void Ledger::check() const {
#ifndef NDEBUG
  constexpr std::size_t kFewNodes = 64;
  if (nodes_.size() > kFewNodes) return;
  const std::string wrong = check_invariants();
  if (!wrong.empty()) throw std::logic_error("ledger: " + wrong);
#endif
}

}  // namespace chipweave::sched
