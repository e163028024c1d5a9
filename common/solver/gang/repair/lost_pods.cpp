#include "common/solver/gang/repair/lost_pods.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::kNoSet;

constexpr int kAnyNumber = std::numeric_limits<int>::max();

// Numbers that are not taken, ascending.
class FreeNumbers {
 public:
  void take(int number) { taken_.insert(number); }
  bool taken(int number) const { return taken_.contains(number); }
  // The lowest free one from `from` up to `to` exclusively; nullopt: there is none.
  std::optional<int> take_from(int from, int to) {
    int& next = next_.try_emplace(from, from).first->second;
    while (next < to && taken_.contains(next)) ++next;
    if (next >= to) return std::nullopt;
    taken_.insert(next);
    return next++;
  }

 private:
  std::set<int> taken_;
  std::map<int, int> next_;  // by `from`: all below are taken
};

class Identifier {
 public:
  Identifier(const Fabric& fabric, const Gang& gang) : fabric_(fabric), gang_(gang) {
    int first = 0;
    for (std::size_t set = 0; set < gang.sets.size(); ++set) {
      first_.push_back(first);
      first += gang.sets[set].pods;
      for (const auto& [node, pods] : gang.sets[set].existing)
        if (pods > 0) named_[node].emplace_back(static_cast<int>(set), pods);
    }
    first_.push_back(first);
    for (const auto& [node, here] : gang.existing) {
      nodes_.push_back(node);
      for (const int rank : here.ranks) ranks_.take(rank);
      for (const int number : here.numbers.empty() ? here.ranks : here.numbers)
        numbers_.take(number);
    }
    std::sort(nodes_.begin(), nodes_.end(),
              [this](FabricNodeId a, FabricNodeId b) { return fabric_.before(a, b); });
  }

  std::vector<RunningPod> run() {
    for (const FabricNodeId node : nodes_) {
      const domain::Running& here = gang_.existing.at(node);
      const std::size_t first = out_.size();
      const std::vector<int>& numbers = here.numbers.empty() ? here.ranks : here.numbers;
      for (std::size_t i = 0; i < here.ranks.size(); ++i)
        out_.push_back({node, numbers[i], here.ranks[i], kNoSet});
      find_sets(node, first);
      const int unlisted = here.pods - static_cast<int>(here.ranks.size());
      for (int i = 0; i < unlisted; ++i) number_next(node);
    }
    return std::move(out_);
  }

 private:
  int set_of(int number) const {
    const auto after = std::upper_bound(first_.begin(), first_.end(), number);
    if (after == first_.begin() || after == first_.end()) return kNoSet;
    return static_cast<int>(after - first_.begin()) - 1;
  }

  // The sets of the listed pods, which are those from `first` on.
  void find_sets(FabricNodeId node, std::size_t first) {
    std::vector<std::size_t> rest;
    for (std::size_t i = first; i < out_.size(); ++i) {
      const int set = set_of(out_[i].pod);
      if (set != kNoSet && take_named(node, set))
        out_[i].set = set;
      else
        rest.push_back(i);
    }
    for (const std::size_t i : rest) {
      const int named = next_named(node);
      out_[i].set = named == kNoSet ? set_of(out_[i].pod) : named;
    }
  }
  void number_next(FabricNodeId node) {
    RunningPod& pod = out_.emplace_back();
    pod.node = node;
    pod.set = next_named(node);
    std::optional<int> number;
    if (pod.set != kNoSet) {
      const auto set = static_cast<std::size_t>(pod.set);
      number = numbers_.take_from(first_[set], first_[set + 1]);
    }
    if (!number) number = numbers_.take_from(0, kAnyNumber);
    pod.pod = *number;
    if (pod.set == kNoSet) pod.set = set_of(pod.pod);
    pod.rank = pod.pod;
    if (ranks_.taken(pod.rank))
      pod.rank = *ranks_.take_from(0, kAnyNumber);
    else
      ranks_.take(pod.rank);
  }

  // Takes one of the pods that the set names there.
  bool take_named(FabricNodeId node, int set) {
    const auto at = named_.find(node);
    if (at == named_.end()) return false;
    for (auto& [one, pods] : at->second)
      if (one == set && pods > 0) return --pods >= 0;
    return false;
  }
  int next_named(FabricNodeId node) {
    const auto at = named_.find(node);
    if (at == named_.end()) return kNoSet;
    for (auto& [one, pods] : at->second) {
      if (pods == 0) continue;
      --pods;
      return one;
    }
    return kNoSet;
  }

  const Fabric& fabric_;
  const Gang& gang_;
  std::vector<int> first_;  // by set, its first number; last: after the last set
  std::map<FabricNodeId, std::vector<std::pair<int, int>>> named_;  // set, pods not assigned yet
  std::vector<FabricNodeId> nodes_;                                 // depth-first
  FreeNumbers ranks_;
  FreeNumbers numbers_;
  std::vector<RunningPod> out_;
};

}  // namespace

std::vector<RunningPod> identify_pods(const Fabric& fabric, const Gang& gang) {
  return Identifier(fabric, gang).run();
}

int chips_of(const Gang& gang, const RunningPod& pod) {
  int chips = gang.chips_of(pod.pod, pod.set);
  const bool known = static_cast<std::size_t>(pod.pod) < gang.pod_chips.size();
  if (known || pod.set != kNoSet || !gang.roles) return chips;
  for (const domain::PodSet& set : gang.sets) chips = std::max(chips, set.chips_per_pod);
  return chips;
}

}  // namespace chipweave::solver
