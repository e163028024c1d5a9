#include "scheduler-plugin/app/nominations.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::sched {
namespace {

bool by_name(const ProposedVictims& a, const ProposedVictims& b) { return a.node < b.node; }

}  // namespace

void Nominations::proposed(const std::string& uid, std::vector<ProposedVictims> nodes) {
  std::erase_if(proposals_, [&](const Proposal& earlier) { return earlier.uid == uid; });
  if (nodes.empty()) return;
  if (proposals_.size() >= kMaxProposals) proposals_.pop_front();
  std::sort(nodes.begin(), nodes.end(), by_name);
  proposals_.push_back({uid, std::move(nodes), clock_.now()});
}

Nominations::Chosen Nominations::lately_chosen(const std::string& uid,
                                               const std::string& node) const {
  const Clock::Steady since = clock_.now() - kSettles;
  const auto it = nominations_.find(uid);
  if (it != nominations_.end() && it->second.node == node && it->second.changed >= since)
    return {it->second.victims, true};
  for (const Proposal& proposal : proposals_) {
    if (proposal.uid != uid || proposal.at < since) continue;
    const auto on = std::lower_bound(proposal.nodes.begin(), proposal.nodes.end(),
                                     ProposedVictims{node, {}}, by_name);
    if (on != proposal.nodes.end() && on->node == node) return {on->uids, false};
  }
  return {};
}

std::ptrdiff_t Nominations::holding_chips(const std::vector<std::string>& uids) const {
  return std::count_if(uids.begin(), uids.end(),
                       [&](const std::string& uid) { return ledger_.find(uid) != nullptr; });
}

void Nominations::nominated(const ClusterPod& pod) {
  const std::string& uid = pod.request.uid;
  end(uid);
  const Holding* own = ledger_.find(uid);
  if (pod.nominated.empty() || !pod.node.empty() || pod.request.chips == 0 ||
      is_member(pod.request) || (own != nullptr && own->planned) ||
      nominations_.size() >= kMaxNominations)
    return;
  Nomination nomination;
  nomination.key = pod.request.key;
  nomination.priority = pod.priority;
  nomination.node = pod.nominated;
  nomination.until = clock_.now() + kLifetime;
  for (Proposal& proposal : proposals_) {
    if (proposal.uid != uid) continue;
    for (ProposedVictims& proposed : proposal.nodes) {
      if (proposed.node == pod.nominated) nomination.victims = std::move(proposed.uids);
    }
  }
  nomination.left = holding_chips(nomination.victims);
  nomination.changed = clock_.now();
  proposed(uid, {});
  by_node_[nomination.node].push_back(uid);
  nominations_.emplace(uid, std::move(nomination));
  keep_for(uid);
}

void Nominations::waits_no_more(const std::string& uid) {
  proposed(uid, {});
  end(uid);
}

void Nominations::end(const std::string& uid) {
  const auto it = nominations_.find(uid);
  if (it != nominations_.end()) erase(it);
}

void Nominations::erase(Map::iterator it) {
  const Holding* held = ledger_.find(it->first);
  if (held != nullptr && held->nominated) {
    reservations_.withdraw(it->first);
    ++state_.freed;
  }
  const auto here = by_node_.find(it->second.node);
  std::erase(here->second, it->first);
  if (here->second.empty()) by_node_.erase(here);
  nominations_.erase(it);
}

void Nominations::drop_kept(const std::string& uid) {
  const Holding* held = ledger_.find(uid);
  if (held != nullptr && held->nominated) reservations_.withdraw(uid);
}

bool Nominations::comes_free(const Holding& holding, const Nomination& nomination) const {
  if (!holding.bound || holding.parts) return false;
  if (std::find(nomination.victims.begin(), nomination.victims.end(), holding.uid) !=
      nomination.victims.end())
    return true;
  const ClusterPod* holder = cluster_.find(holding.key);
  return holder != nullptr && holder->request.uid == holding.uid && holder->ending;
}

ChipSet Nominations::wanted_by(const ClusterPod& pod, const Nomination& nomination,
                               NodeId node) const {
  const RequestContext context = contexts_.of(pod.request, nullptr);
  NodeState state = nodes_.state(nodes_.state_of(node));
  for (const Holding* h : ledger_.on(node)) {
    if (h->uid == pod.request.uid || comes_free(*h, nomination))
      state.free |= h->chips - state.unhealthy;
  }
  state.free |= yielding(node, nomination.priority) - state.unhealthy;
  state.free -= expected(node, pod.request.uid, nomination.priority);
  return evaluator_.answer_of(context, state, Evaluator::beside_on(context, node)).chips;
}

bool Nominations::complete(const Holding& kept, const PodRequest& pod) const {
  return evaluator_.usable(kept, pod, contexts_.of(pod, nullptr).distributed);
}

void Nominations::keep(const std::string& uid, Nomination& nomination) {
  nomination.wanted = {};
  if (const auto left = holding_chips(nomination.victims); left != nomination.left) {
    nomination.left = left;
    nomination.changed = clock_.now();
  }
  const Holding* own = ledger_.find(uid);
  if (own != nullptr && !own->nominated) return;  // its own reservation, or it is being bound
  const ClusterPod* pod = cluster_.find(nomination.key);
  const NodeId node = nodes_.find(nomination.node);
  const bool waits = pod != nullptr && pod->request.uid == uid && pod->node.empty() &&
                     pod->refused.empty() && node != kNoNode && nodes_.node(node).has_inventory() &&
                     authority_.cannot_decide().empty();
  if (!waits) return drop_kept(uid);
  nomination.wanted = wanted_by(*pod, nomination, node);
  give_up(node, nomination.wanted, nomination.priority);
  own = ledger_.find(uid);
  const ChipSet kept = own != nullptr && own->node == node ? own->chips : ChipSet{};
  const ChipSet now = nomination.wanted & (nodes_.node(node).free() | kept);
  if (now == kept) return;
  drop_kept(uid);
  if (!now.empty()) reservations_.hold_nominated(pod->request, node, now, nomination.until);
}

void Nominations::keep_for(const std::string& uid) {
  const auto it = nominations_.find(uid);
  if (it != nominations_.end()) keep(uid, it->second);
}

void Nominations::keep_on(NodeId node) {
  const auto here = by_node_.find(nodes_.node(node).name);
  if (here == by_node_.end()) return;
  std::size_t searches = 0;
  for (const std::string& uid : here->second) {
    if (++searches > kMaxSearches) return;  // keep_all() does the rest
    keep(uid, nominations_.find(uid)->second);
  }
}

void Nominations::keep_all() {
  const Clock::Steady now = clock_.now();
  for (auto it = nominations_.begin(); it != nominations_.end();) {
    const auto one = it++;
    if (one->second.until <= now) erase(one);
  }
  std::size_t searches = 0;
  for (std::size_t i = 0; i < nominations_.size() && searches < kMaxSearches; ++i) {
    auto it = nominations_.upper_bound(last_kept_);
    if (it == nominations_.end()) it = nominations_.begin();
    last_kept_ = it->first;
    const Holding* own = ledger_.find(it->first);
    const ClusterPod* pod = cluster_.find(it->second.key);
    if (own != nullptr && own->nominated && pod != nullptr && complete(*own, pod->request))
      continue;
    ++searches;
    keep(it->first, it->second);
  }
}

void Nominations::give_up(NodeId node, ChipSet chips, int priority) {
  if (!yielding(node, priority).intersects(chips)) return;
  for (const std::string& uid : by_node_.find(nodes_.node(node).name)->second) {
    Nomination& lower = nominations_.find(uid)->second;
    const Holding* held = ledger_.find(uid);
    if (lower.priority >= priority || held == nullptr || !held->nominated || held->node != node ||
        !held->chips.intersects(chips))
      continue;
    lower.wanted = {};
    reservations_.withdraw(uid);
  }
}

bool Nominations::give_way(const RequestContext& context, int priority,
                           const std::vector<NodeId>& nodes) {
  std::size_t searches = 0;
  for (const auto& [name, uids] : by_node_) {
    const NodeId node = nodes_.find(name);
    if (node == kNoNode) continue;
    const ChipSet lower = yielding(node, priority);
    if (lower.empty() || (context.only != kNoNode && context.only != node) ||
        std::find(nodes.begin(), nodes.end(), node) == nodes.end())
      continue;
    if (++searches > kMaxSearches) return false;
    NodeState state = nodes_.state(nodes_.state_of(node));
    state.free |= lower - state.unhealthy;
    if (!evaluator_.fits(context, state)) continue;
    give_up(node, lower, priority);
    return true;
  }
  return false;
}

ChipSet Nominations::yielding(NodeId node, int priority) const {
  ChipSet chips;
  if (by_node_.empty()) return chips;
  const auto here = by_node_.find(nodes_.node(node).name);
  if (here == by_node_.end()) return chips;
  for (const std::string& uid : here->second) {
    const Holding* held = ledger_.find(uid);
    if (nominations_.find(uid)->second.priority < priority && held != nullptr && held->nominated &&
        held->node == node)
      chips |= held->chips;
  }
  return chips;
}

ChipSet Nominations::expected(NodeId node, std::string_view uid, int priority) const {
  ChipSet chips;
  if (by_node_.empty()) return chips;
  const auto here = by_node_.find(nodes_.node(node).name);
  if (here == by_node_.end()) return chips;
  for (const std::string& other : here->second) {
    const Nomination& nomination = nominations_.find(other)->second;
    if (other != uid && nomination.priority >= priority) chips |= nomination.wanted;
  }
  return chips;
}

}  // namespace chipweave::sched
