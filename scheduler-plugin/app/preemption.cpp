#include "scheduler-plugin/app/preemption.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace chipweave::sched {
namespace {

// Sets of victims that are tried before a small set is accepted instead of the smallest.
constexpr int kMaxTries = 20'000;

// Lower is better: the fewest, then the least important one of the most important, then all.
struct Cost {
  std::size_t pods = std::numeric_limits<std::size_t>::max();
  int highest = 0;
  std::int64_t sum = 0;
  friend auto operator<=>(const Cost&, const Cost&) = default;
};

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
  // its own reservation does not block it
  const Holding* own = ledger_.find(pod.uid);
  if (own != nullptr && own->node == id) state.free |= own->chips - state.unhealthy;
  const RequestContext context = evaluator_.context_of(pod, nullptr);
  if (context.only != kNoNode && context.only != id) return false;
  return evaluator_.answer_of(context, state, {}).verdict.fits();
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

int Preemption::priority_of(const Holding& holding) const {
  const ClusterPod* pod = cluster_.find(holding.key);
  return pod != nullptr && pod->request.uid == holding.uid ? pod->priority : 0;
}

std::vector<std::string> Preemption::choose_victims(const PodRequest& pod, std::string_view node,
                                                    std::span<const std::string> offered) const {
  if (!fits_without(pod, node, offered)) return {};
  if (fits_without(pod, node, {}))
    return {offered.begin(), offered.end()};  // chips are not the reason
  const NodeId id = nodes_.find(node);
  struct Holder {
    std::string uid;
    int priority;
  };
  std::vector<std::string> chosen;  // victims chosen for other reasons than chips
  std::vector<Holder> holders;
  for (const std::string& uid : offered) {
    const Holding* h = pod.chips > 0 ? ledger_.find(uid) : nullptr;
    if (h != nullptr && h->node == id && h->count() > 0) {
      holders.push_back({uid, priority_of(*h)});
    } else {
      chosen.push_back(uid);
    }
  }
  std::stable_sort(holders.begin(), holders.end(),
                   [](const Holder& a, const Holder& b) { return a.priority < b.priority; });
  // The smallest sets first; all of one size, since the best of them may be the last.
  const std::size_t n = holders.size();
  std::vector<std::string> best;
  int tries = kMaxTries;
  for (std::size_t size = 1; size < n && best.empty() && tries > 0; ++size) {
    std::vector<std::size_t> at(size);
    std::iota(at.begin(), at.end(), std::size_t{0});
    Cost least;
    while (tries-- > 0) {
      Cost cost{size, holders[at.back()].priority, 0};
      std::vector<std::string> uids;
      for (const std::size_t i : at) {
        cost.sum += holders[i].priority;
        uids.push_back(holders[i].uid);
      }
      if (cost < least && fits_without(pod, node, uids)) {
        least = cost;
        best = std::move(uids);
      }
      std::size_t move = size;  // the next combination in order
      while (move > 0 && at[move - 1] == n - size + move - 1) --move;
      if (move == 0) break;
      ++at[move - 1];
      for (std::size_t i = move; i < size; ++i) at[i] = at[i - 1] + 1;
    }
  }
  if (best.empty()) {
    // all of them, without those that can stay, the most important first
    for (const Holder& h : holders) best.push_back(h.uid);
    for (std::size_t i = best.size(); i-- > 0 && best.size() > 1;) {
      std::vector<std::string> fewer = best;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (fits_without(pod, node, fewer)) best = std::move(fewer);
    }
  }
  chosen.insert(chosen.end(), best.begin(), best.end());
  return chosen;
}

}  // namespace chipweave::sched
