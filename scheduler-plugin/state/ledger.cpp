#include "scheduler-plugin/state/ledger.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace chipweave::sched {

const Holding* Ledger::find(std::string_view uid) const {
  const auto it = holdings_.find(uid);
  return it == holdings_.end() ? nullptr : it->second.get();
}

Holding& Ledger::held_by(std::string_view uid) {
  const auto it = holdings_.find(uid);
  if (it == holdings_.end())
    throw std::logic_error("ledger: pod " + std::string(uid) + " holds nothing");
  return *it->second;
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
  if (!holding.bound) reservations_.emplace(holding.expires, holding.uid);
  const ChipSet chips = holding.chips;
  const Holding& held = put(std::move(holding));
  if (on_.size() <= node) on_.resize(node + 1);
  on_[node].push_back(&held);
  add_to_job(held);
  nodes_.set_taken(node, taken | chips, on_[node].size());
  notify(held, PodEvent::held);
  check();
  return {};
}

void Ledger::hold_free(Holding holding) {
  if (const auto held = hold(std::move(holding)); !held)
    throw std::logic_error("ledger: " + held.error().message);
}

// Bound holdings have events of their own, and spare parts belong to no pod yet.
void Ledger::notify(const Holding& reservation, PodEvent event) {
  if (pods_ != nullptr && !reservation.bound && !reservation.spare)
    pods_->on(reservation.uid, event);
}

const Holding& Ledger::put(Holding holding) {
  auto kept = std::make_unique<Holding>(std::move(holding));
  const std::string_view uid = kept->uid;
  return *holdings_.emplace(uid, std::move(kept)).first->second;
}

void Ledger::forget_reservation(const Holding& holding) {
  const auto [begin, end] = reservations_.equal_range(holding.expires);
  const auto it = std::find_if(begin, end, [&](const auto& p) { return p.second == holding.uid; });
  if (it != end) reservations_.erase(it);
}

void Ledger::add_to_job(const Holding& holding) {
  if (!holding.job.empty() && !holding.chips.empty())
    by_job_[holding.job][holding.node] |= holding.chips;
}

void Ledger::take_from_job(const Holding& holding) {
  const auto job = by_job_.find(holding.job);
  if (job == by_job_.end() || holding.chips.empty()) return;
  const auto here = job->second.find(holding.node);
  here->second -= holding.chips;
  if (here->second.empty()) job->second.erase(here);
  if (job->second.empty()) by_job_.erase(job);
}

const Ledger::ByNode& Ledger::of_job(const std::string& job) const {
  static const ByNode none;
  const auto it = by_job_.find(job);
  return it == by_job_.end() ? none : it->second;
}

void Ledger::confirm(std::string_view uid) {
  Holding& holding = held_by(uid);
  if (!holding.bound) forget_reservation(holding);
  holding.bound = true;
  holding.nominated = false;
  check();
}

void Ledger::reopen(std::string_view uid, Clock::Steady expires) {
  Holding& holding = held_by(uid);
  if (!holding.bound) return;
  holding.bound = false;
  holding.expires = expires;
  reservations_.emplace(expires, holding.uid);
  check();
}

void Ledger::assume(std::string_view uid, ChipSet chips) {
  Holding& holding = held_by(uid);
  const ChipSet others = nodes_.node(holding.node).taken - holding.chips;
  if (!holding.assumed || chips.size() > holding.count() || others.intersects(chips)) {
    throw std::logic_error("ledger: a guess that cannot be");
  }
  take_from_job(holding);
  holding.unplaced = holding.count() - chips.size();
  holding.unreported.clear();
  holding.chips = chips;
  add_to_job(holding);
  nodes_.set_taken(holding.node, others | chips, on_[holding.node].size());
  check();
}

void Ledger::extend(std::string_view uid, Clock::Steady expires) {
  const auto it = holdings_.find(uid);
  if (it == holdings_.end() || it->second->bound) return;
  forget_reservation(*it->second);
  it->second->expires = expires;
  it->second->nominated = false;
  reservations_.emplace(expires, it->second->uid);
}

void Ledger::hand_over(std::string_view from, Holder to) {
  const auto it = holdings_.find(from);
  if (it == holdings_.end() || it->second->bound || holdings_.contains(to.uid)) {
    throw std::logic_error("ledger: nothing to hand over, or to one that holds chips");
  }
  Holding holding = *it->second;
  forget_reservation(holding);
  take_from_job(holding);
  auto& here = on_[holding.node];
  const auto place = std::find(here.begin(), here.end(), it->second.get());
  notify(holding, PodEvent::released);
  holdings_.erase(it);
  holding.uid = std::move(to.uid);
  holding.key = std::move(to.key);
  holding.job = std::move(to.job);
  holding.spare = to.spare;
  reservations_.emplace(holding.expires, holding.uid);
  add_to_job(holding);
  *place = &put(std::move(holding));
  notify(**place, PodEvent::held);
  check();
}

bool Ledger::drop(std::string_view uid) {
  const auto it = holdings_.find(uid);
  if (it == holdings_.end()) return false;
  const Holding& holding = *it->second;
  if (!holding.bound) forget_reservation(holding);
  auto& here = on_[holding.node];
  here.erase(std::find(here.begin(), here.end(), &holding));
  take_from_job(holding);
  nodes_.set_taken(holding.node, nodes_.node(holding.node).taken - holding.chips, here.size());
  notify(holding, PodEvent::released);
  holdings_.erase(it);
  ++released_;
  check();
  return true;
}

std::vector<Holding> Ledger::expire(Clock::Steady now) {
  std::vector<Holding> gone;
  while (!reservations_.empty() && reservations_.begin()->first <= now) {
    const std::string uid = reservations_.begin()->second;
    gone.push_back(*holdings_.find(uid)->second);
    drop(uid);
  }
  return gone;
}

std::vector<std::string> Ledger::rebase(NodeId node, const std::vector<int>& old_indices) {
  std::vector<std::string> broken;
  if (node >= on_.size()) return broken;
  const domain::NodeTopology& topology = nodes_.node(node).topology;
  for (const Holding* h : on_[node]) take_from_job(*h);
  ChipSet taken;
  for (const Holding* h : on_[node]) {
    Holding& holding = *holdings_.find(h->uid)->second;
    std::vector<int> indices = std::move(holding.unreported);
    for (const int slot : holding.chips) {
      indices.push_back(old_indices[static_cast<std::size_t>(slot)]);
    }
    holding.chips = {};
    holding.unreported.clear();
    for (const int index : indices) {
      if (const auto slot = topology.slot_of(domain::ChipIndex{index})) {
        holding.chips.insert(*slot);
      } else {
        holding.unreported.push_back(index);
      }
    }
    taken |= holding.chips;
    if (!holding.bound && !holding.unreported.empty()) broken.push_back(holding.uid);
  }
  for (const Holding* h : on_[node]) add_to_job(*h);
  nodes_.set_taken(node, taken, on_[node].size());
  check();
  return broken;
}

std::string Ledger::check_invariants() const {
  std::size_t seen = 0;
  std::size_t reserved = 0;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_.node(id);
    ChipSet sum;
    for (const Holding* h : on(id)) {
      if (h->node != id)
        return "a holding of " + h->uid + " is listed on the wrong node " + node.name;
      for (const int index : h->unreported) {
        if (node.topology.slot_of(domain::ChipIndex{index})) {
          return "a chip of " + node.name + " came back, but not to " + h->uid;
        }
      }
      if (sum.intersects(h->chips))
        return "a chip of " + node.name + " is given twice, also to " + h->uid;
      sum |= h->chips;
      ++seen;
      reserved += h->bound ? 0U : 1U;
    }
    if (on(id).size() != node.holders) return "holders of " + node.name + " are miscounted";
    if (sum != node.taken) return "taken chips of " + node.name + " are not those of its pods";
    if (!node.topology.all().contains(sum))
      return "chips are held that " + node.name + " does not have";
    if (node.free().intersects(sum | node.unhealthy))
      return "a chip of " + node.name + " is in two states";
  }
  if (seen != holdings_.size()) return "a holding is on no node";
  if (reserved != reservations_.size()) return "the reservations do not match the holdings";
  std::unordered_map<std::string, ByNode> jobs;
  for (const auto& [uid, h] : holdings_) {
    if (!h->job.empty() && !h->chips.empty()) jobs[h->job][h->node] |= h->chips;
  }
  if (jobs != by_job_) return "the chips of the jobs are not those of their pods";
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
