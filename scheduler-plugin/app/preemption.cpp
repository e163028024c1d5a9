#include "scheduler-plugin/app/preemption.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <unordered_set>
#include <utility>

namespace chipweave::sched {
namespace {

constexpr int kLowestPriority = std::numeric_limits<int>::min();

// Valid as long as the list is.
using Uids = std::unordered_set<std::string_view>;
Uids set_of(const std::vector<std::string>& list) { return {list.begin(), list.end()}; }

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
  if (auto again = chosen_again(pod.uid, id, of_others, fits); !again.empty()) return again;
  if (fits({})) return proposed.uids;  // chips are not the reason
  VictimCandidates candidates = candidates_on(id, proposed, priority, of_others);
  VictimSearch search(std::move(candidates.victims), context.members * pod.chips - free.size(),
                      fits);
  const std::vector<std::string> best = search.find(share);
  work += search.work_done();
  if (best.empty()) return {};
  std::vector<std::string> chosen = candidates.others;
  chosen.insert(chosen.end(), best.begin(), best.end());
  if (frees_as_much(chosen, proposed.uids)) return chosen;
  work += VictimSearch::kFitsWork;
  if (fits(candidates.of_proposed)) return proposed.uids;
  std::vector<std::string> all = proposed.uids;
  const Uids known = set_of(proposed.uids);
  for (std::string& uid : chosen) {
    if (!known.contains(uid)) all.push_back(std::move(uid));
  }
  return all;
}

// The victims of the answer before, where kube-scheduler asks again before all of them are gone
// for it and for us; other pods would end in vain. Empty: there are none, or they are not enough.
// If all are gone here, kube-scheduler does not know some of them either: it then rejects the
// answer, evicts no pod, and tries again when it has seen them go.
std::vector<std::string> Preemption::chosen_again(const std::string& uid, NodeId node,
                                                  ChipSet of_others,
                                                  const std::function<bool(ChipSet)>& fits) const {
  const Nominations::Chosen earlier = nominations_.lately_chosen(uid, nodes_.node(node).name);
  if (earlier.uids.empty()) return {};
  std::vector<std::string> left;
  ChipSet freed;
  for (const std::string& victim : earlier.uids) {
    const Holding* held = ledger_.find(victim);
    if (held == nullptr || held->node != node) continue;
    left.push_back(victim);
    if (!held->parts) freed |= held->chips - nodes_.node(node).unhealthy - of_others;
  }
  if ((!earlier.nominated && left.size() < earlier.uids.size()) || !fits(freed)) return {};
  return left.empty() ? earlier.uids : left;
}

// The pods that may end so that chips come free, the proposed ones first.
Preemption::VictimCandidates Preemption::candidates_on(NodeId node, const ProposedVictims& proposed,
                                                       std::optional<int> priority,
                                                       ChipSet of_others) const {
  VictimCandidates found;
  std::ptrdiff_t first = 0;  // after the proposed ones
  Uids others = set_of(proposed.uids);
  for (const Holding* h : ledger_.on(node)) {
    const bool is_proposed = others.contains(h->uid);
    auto victim = victim_of(*h, is_proposed, priority, of_others);
    if (!victim) continue;
    if (is_proposed) {
      found.of_proposed |= victim->chips;
      others.erase(h->uid);
    }
    const auto at = is_proposed ? found.victims.begin() + first++ : found.victims.end();
    found.victims.insert(at, *std::move(victim));
  }
  for (const std::string& uid : proposed.uids) {
    if (others.contains(uid)) found.others.push_back(uid);
  }
  return found;
}

const ClusterPod* Preemption::pod_of(const std::string& uid) const {
  const Holding* held = ledger_.find(uid);
  const ClusterPod* pod = held == nullptr ? nullptr : cluster_.find(held->key);
  return pod != nullptr && pod->request.uid == uid ? pod : nullptr;
}

// Whether the end of the chosen pods frees at least what the proposed ones would: kube-scheduler
// does not tell which resource it needs. Any victim frees one place in the node's number of pods.
bool Preemption::frees_as_much(const std::vector<std::string>& chosen,
                               const std::vector<std::string>& proposed) const {
  OtherResources missing;
  const auto add = [&](const std::string& uid, std::int64_t sign) {
    const ClusterPod* pod = pod_of(uid);
    if (pod == nullptr) return;
    missing.milli_cpu += sign * pod->others.milli_cpu;
    missing.memory += sign * pod->others.memory;
    missing.ephemeral_storage += sign * pod->others.ephemeral_storage;
    for (const auto& [name, amount] : pod->others.named) missing.named[name] += sign * amount;
  };
  for (const std::string& uid : proposed) add(uid, 1);
  for (const std::string& uid : chosen) add(uid, -1);
  return missing.milli_cpu <= 0 && missing.memory <= 0 && missing.ephemeral_storage <= 0 &&
         std::all_of(missing.named.begin(), missing.named.end(),
                     [](const auto& one) { return one.second <= 0; });
}

// The most important pod first: kube-scheduler compares nodes by the first victim of each. The
// proposed ones come in that order, so a pod of unknown priority gets that of the one before it.
void Preemption::sort_by_priority(std::vector<std::string>& victims,
                                  const std::vector<std::string>& proposed) const {
  if (victims.size() < 2) return;
  struct Ranked {
    std::int64_t rank;
    std::ptrdiff_t place;  // the proposed ones first, in their order
    std::string uid;
  };
  std::vector<Ranked> order;
  const auto known = std::find_if(proposed.begin(), proposed.end(),
                                  [&](const std::string& uid) { return pod_of(uid) != nullptr; });
  std::int64_t rank =
      known == proposed.end() ? std::numeric_limits<std::int64_t>::max() : pod_of(*known)->priority;
  const Uids chosen = set_of(victims);
  for (const std::string& uid : proposed) {
    if (const ClusterPod* pod = pod_of(uid)) rank = pod->priority;
    if (chosen.contains(uid)) order.push_back({rank, std::ssize(order), uid});
  }
  const Uids known_to_caller = set_of(proposed);
  for (const std::string& uid : victims) {
    if (known_to_caller.contains(uid)) continue;
    const ClusterPod* pod = pod_of(uid);
    order.push_back({pod == nullptr ? kLowestPriority : pod->priority, std::ssize(order), uid});
  }
  std::sort(order.begin(), order.end(), [](const Ranked& a, const Ranked& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.place < b.place;
  });
  victims.clear();
  for (Ranked& one : order) victims.push_back(std::move(one.uid));
}

std::vector<std::string> Preemption::choose_victims(const PodRequest& pod,
                                                    std::optional<int> priority,
                                                    const ProposedVictims& proposed,
                                                    Budget& budget) const {
  if (budget.nodes == 0 || budget.work <= 0) return {};
  std::int64_t work = budget.work / static_cast<std::int64_t>(budget.nodes--);
  auto victims = choose_on_node(contexts_.of(pod, nullptr), priority, proposed, work);
  budget.work -= work;
  sort_by_priority(victims, proposed.uids);
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
