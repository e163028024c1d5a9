// MoveState — a partly decided set of moves: who goes where, what each node has left, and how much
// more must move at least. Internal to exact_moves().
//
// A pod of a domain that becomes empty must move. Of the other pods it is open at first whether
// they stay: a node may receive more than it has free as long as its open pods could make room.
// Then it has a deficit, which only moves of its open pods can settle.
#pragma once

#include <cstdint>
#include <vector>

#include "common/solver/gang/defrag/search/move_problem.hpp"

namespace chipweave::solver {

class MoveState {
 public:
  explicit MoveState(const MoveProblem& problem);

  // Back to the start, with these domains to be empty.
  void reset(const std::vector<int>& emptied);

  bool emptied(int domain) const { return emptied_[static_cast<std::size_t>(domain)] != 0; }
  bool open(int pod) const { return decisions_[static_cast<std::size_t>(pod)] == Decision::open; }
  const Targets& targets() const { return targets_; }
  // With what must move at least to settle the deficits.
  MoveScore least_score() const;
  bool has_deficit(int node) const;
  bool any_deficit() const { return deficits_ > 0; }
  // Where pods arrive.
  const std::vector<int>& receivers() const { return receivers_; }

  // Whether the pod may arrive there, given what may still leave.
  bool may_arrive(int pod, int node) const;
  // The chips that must leave a node in addition if the pod arrives there.
  std::int64_t more_deficit(int pod, int node) const;
  bool uses_up_domain(int node) const;
  std::int64_t free(int node) const { return free_[static_cast<std::size_t>(node)]; }
  std::int64_t slots(int node) const { return slots_[static_cast<std::size_t>(node)]; }
  // Whether what has arrived fits by the chips' rules, once all have left that may leave.
  bool chips_fit(int node) const;

  void leave(int pod);  // an open pod, which will arrive elsewhere
  void undo_leave(int pod);
  void arrive(int pod, int node);
  void undo_arrive(int pod);
  // False: the deficit of its node can no longer be settled.
  bool stay(int pod);
  void undo_stay(int pod);

 private:
  enum class Decision : char { open, leaves, stays };

  std::int64_t chips_short(int node) const;
  std::int64_t pods_short(int node) const;
  template <class Change>
  void change(int node, const Change& change);
  void count(int node, int sign);

  const MoveProblem& problem_;
  Targets targets_;
  std::vector<Decision> decisions_;  // by pod
  std::vector<char> emptied_;        // by domain
  std::vector<int> arrived_in_;      // by domain, pods
  std::vector<std::int64_t> free_;   // by node, below 0: a deficit
  std::vector<std::int64_t> slots_;
  std::vector<std::int64_t> open_chips_;  // of its open pods
  std::vector<int> open_pods_;
  std::vector<std::vector<int>> arrived_;  // by node, pods
  std::vector<int> receivers_;
  int emptied_domains_ = 0;
  int used_up_ = 0;
  std::int64_t chips_ = 0;
  int pods_ = 0;
  int deficits_ = 0;
  std::int64_t short_chips_ = 0;
  std::int64_t short_pods_ = 0;
};

}  // namespace chipweave::solver
