// SetStates — the states of ExactSets: the number of pods of each kind in a domain as one number in
// mixed radix, followed by the number of whole nodes used where spare nodes are to be left.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "common/solver/gang/mixed/pod_groups.hpp"

namespace chipweave::solver {

using State = std::uint32_t;
inline constexpr State kNoState = std::numeric_limits<State>::max();
using GroupMask = std::uint64_t;  // one bit per group of PodGroups

class SetStates {
 public:
  static constexpr std::size_t kMaxGroups = 64;

  // whole_nodes: the most that a domain can use; -1: not counted.
  SetStates(const PodGroups& groups, int whole_nodes);

  // The number of states; most + 1 if there are more than `most`.
  std::size_t size(std::size_t most) const;
  // Fills the tables below. Precondition: states == size().
  void describe(std::size_t states);

  int digit(State state, std::size_t kind) const {
    return static_cast<int>(state / strides_[kind]) % (most_[kind] + 1);
  }
  int most(std::size_t kind) const { return most_[kind]; }
  State with(State state, std::size_t kind, int pods) const {
    return state + strides_[kind] * static_cast<State>(pods);
  }
  // Whole nodes: the last digit.
  int whole_nodes(State state) const { return digit(state, groups_.kinds.size()); }
  State with_whole_nodes(State state, int nodes) const {
    return with(state, groups_.kinds.size(), nodes);
  }
  State without_whole_nodes(State state) const {
    return state - strides_.back() * static_cast<State>(whole_nodes(state));
  }
  // kNoState: more pods of a kind than there are.
  State sum(State a, State b) const;

  int pods(State state) const { return pods_[state]; }
  int pods(State state, const PodGroup& group) const {
    int sum = 0;
    for (const std::size_t kind : group.kinds) sum += digit(state, kind);
    return sum;
  }
  GroupMask groups(State state) const { return presence_[state]; }  // groups with pods
  std::vector<int> by_set(State state, std::size_t sets) const;

 private:
  const PodGroups& groups_;
  std::vector<int> most_;       // by kind, then whole nodes
  std::vector<State> strides_;  // likewise
  std::vector<GroupMask> presence_;
  std::vector<int> pods_;
};

}  // namespace chipweave::solver
