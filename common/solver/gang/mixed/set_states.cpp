#include "common/solver/gang/mixed/set_states.hpp"

#include <algorithm>

namespace chipweave::solver {

SetStates::SetStates(const PodGroups& groups, int whole_nodes) : groups_(groups) {
  for (const KindOfPods& kind : groups.kinds) most_.push_back(static_cast<int>(kind.pods.size()));
  if (whole_nodes >= 0) most_.push_back(whole_nodes);
}

std::size_t SetStates::size(std::size_t most) const {
  std::size_t states = 1;
  for (const int one : most_) {
    states *= static_cast<std::size_t>(one) + 1;
    if (states > most) return most + 1;
  }
  return states;
}

void SetStates::describe(std::size_t states) {
  State stride = 1;
  for (const int one : most_) {
    strides_.push_back(stride);
    stride *= static_cast<State>(one) + 1;
  }
  presence_.assign(states, 0);
  pods_.assign(states, 0);
  for (State state = 0; state < states; ++state) {
    for (std::size_t kind = 0; kind < groups_.kinds.size(); ++kind)
      pods_[state] += digit(state, kind);
    for (std::size_t g = 0; g < groups_.groups.size(); ++g)
      if (pods(state, groups_.groups[g]) > 0) presence_[state] |= GroupMask{1} << g;
  }
}

State SetStates::sum(State a, State b) const {
  for (std::size_t i = 0; i < most_.size(); ++i)
    if (digit(a, i) + digit(b, i) > most_[i]) return kNoState;
  return a + b;
}

std::vector<int> SetStates::by_set(State state, std::size_t sets) const {
  std::vector<int> out(sets, 0);
  for (std::size_t kind = 0; kind < groups_.kinds.size(); ++kind) {
    if (groups_.kinds[kind].set != domain::kNoSet)
      out[static_cast<std::size_t>(groups_.kinds[kind].set)] += digit(state, kind);
  }
  return out;
}

}  // namespace chipweave::solver
