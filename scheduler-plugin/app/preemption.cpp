#include "scheduler-plugin/app/preemption.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace chipweave::sched {
namespace {

constexpr int kLowestPriority = std::numeric_limits<int>::min();

}  // namespace

bool Preemption::fits_without(const PodRequest& pod, std::string_view name,
                              std::span<const std::string> victims) const {
  if (pod.chips == 0) return true;
  const NodeId id = nodes_.find(name);
  if (id == kNoNode || !nodes_.node(id).has_inventory()) return false;
  NodeState state = nodes_.state(nodes_.state_of(id));
  for (const std::string& uid : victims) {
    const Holding* victim = ledger_.find(uid);
    // a chip of which it uses a part may stay in use
    if (victim != nullptr && victim->node == id && !victim->parts)
      state.free |= victim->chips - state.unhealthy;
  }
  state.free -= nominations_.expected(id, pod.uid, kLowestPriority);
  // its own reservation does not block it
  const Holding* own = ledger_.find(pod.uid);
  if (own != nullptr && own->node == id) state.free |= own->chips - state.unhealthy;
  const RequestContext context = contexts_.of(pod, nullptr);
  if (context.only != kNoNode && context.only != id) return false;
  return evaluator_.fits(context, state);
}

bool Preemption::fits_when_ended(const PodRequest& pod, std::string_view name) const {
  const NodeId id = nodes_.find(name);
  if (id == kNoNode) return false;
  std::vector<std::string> ending;
  for (const Holding* h : ledger_.on(id)) {
    const ClusterPod* holder = cluster_.find(h->key);
    if (holder != nullptr && holder->request.uid == h->uid && holder->ending)
      ending.push_back(h->uid);
  }
  return !ending.empty() && fits_without(pod, name, ending);
}

// What comes free with the pod that holds these chips; empty if nothing does, or if it must not
// end.
std::optional<Victim> Preemption::victim_of(const Holding& holding, bool proposed,
                                            std::optional<int> priority, ChipSet of_others) const {
  const Node& node = nodes_.node(holding.node);
  const ChipSet chips = holding.chips - node.unhealthy - of_others;
  const ClusterPod* pod = cluster_.find(holding.key);
  if (pod == nullptr || pod->request.uid != holding.uid || chips.empty()) return std::nullopt;
  if (holding.parts) return std::nullopt;  // others may use the other parts of its chips
  // kube-scheduler rejects the whole answer if it does not know a victim on the node
  const bool lower = priority && pod->priority < *priority && pod->node == node.name;
  if (!proposed && (!lower || holding.assumed)) return std::nullopt;
  return Victim{holding.uid, chips, pod->priority, holding.job,
                std::max<std::size_t>(1, jobs_.members(holding.job))};
}

std::vector<std::string> Preemption::choose_on_node(const RequestContext& context,
                                                    std::optional<int> priority,
                                                    const ProposedVictims& proposed,
                                                    std::int64_t& work) const {
  const std::int64_t share = std::exchange(work, VictimSearch::kFitsWork);
  const PodRequest& pod = *context.pod;
  if (pod.chips == 0) return proposed.uids;
  const NodeId id = nodes_.find(proposed.node);
  if (id == kNoNode || !nodes_.node(id).has_inventory()) return {};
  if (context.only != kNoNode && context.only != id) return {};
  NodeState state = nodes_.state(nodes_.state_of(id));
  const Holding* own = ledger_.find(pod.uid);
  if (own != nullptr && own->node == id) state.free |= own->chips - state.unhealthy;
  const int rank = priority.value_or(kLowestPriority);
  state.free |= nominations_.yielding(id, rank) - state.unhealthy;
  const ChipSet of_others = nominations_.expected(id, pod.uid, rank);
  const ChipSet free = state.free;
  const auto fits = [&](ChipSet freed) {
    state.free = free | freed;
    return evaluator_.fits(context, state);
  };
  if (fits({})) return proposed.uids;  // chips are not the reason
  const auto is_proposed = [&](std::string_view uid) {
    return std::find(proposed.uids.begin(), proposed.uids.end(), uid) != proposed.uids.end();
  };
  std::vector<Victim> victims;
  std::ptrdiff_t first = 0;  // after the proposed ones
  for (const Holding* h : ledger_.on(id)) {
    const bool preferred = is_proposed(h->uid);
    auto victim = victim_of(*h, preferred, priority, of_others);
    if (!victim) continue;
    victims.insert(preferred ? victims.begin() + first++ : victims.end(), *std::move(victim));
  }
  VictimSearch search(std::move(victims), context.members * pod.chips - free.size(), fits);
  const std::vector<std::string> best = search.find(share);
  work += search.work_done();
  if (best.empty()) return {};
  std::vector<std::string> chosen;
  for (const std::string& uid : proposed.uids) {
    const Holding* h = ledger_.find(uid);
    // proposed for other reasons than chips
    if (h == nullptr || h->node != id || h->count() == 0) chosen.push_back(uid);
  }
  chosen.insert(chosen.end(), best.begin(), best.end());
  return chosen;
}

std::vector<std::string> Preemption::choose_victims(const PodRequest& pod,
                                                    std::optional<int> priority,
                                                    const ProposedVictims& proposed,
                                                    Budget& budget) const {
  if (budget.nodes == 0 || budget.work <= 0) return {};
  std::int64_t work = budget.work / static_cast<std::int64_t>(budget.nodes--);
  auto victims = choose_on_node(contexts_.of(pod, nullptr), priority, proposed, work);
  budget.work -= work;
  return victims;
}

std::vector<std::vector<std::string>> Preemption::choose_victims(
    const PodRequest& pod, std::optional<int> priority,
    std::span<const ProposedVictims> nodes) const {
  Budget budget(nodes.size());
  std::vector<std::vector<std::string>> victims;
  victims.reserve(nodes.size());
  for (const ProposedVictims& proposed : nodes)
    victims.push_back(choose_victims(pod, priority, proposed, budget));
  return victims;
}

}  // namespace chipweave::sched
