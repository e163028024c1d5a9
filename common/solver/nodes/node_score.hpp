// Node score — which node a request should go to: comparable across machine kinds, in the range of
// kube-scheduler.
//
// Order: bandwidth that the request can use, in steps of the tolerance below the best that any
// candidate offers → nearest in the network to the other pods of its job → what others lose: free
// chips made unusable for typical pods, for lack of chips, CPU or memory, and the speed of the
// machine → fewest chips left over → natural order of names. The best candidate alone gets 10; all
// others, including its equals, get 0..9.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/solver/nodes/node_offer.hpp"

namespace chipweave::solver {

// Pods of at least so many chips can use any bandwidth: they take the machine for themselves, or
// most of it.
inline constexpr int kUnlimitedChips = 8;

// How the choice weighs speed against what is left for others.
struct NodePreference {
  // Bandwidths that differ by no more than this share count as equal. 0..1
  double tolerance = 0.05;
  // A pod of n chips, n below kUnlimitedChips, that is alone in its job and declares no need can
  // use (n - 1) times this, in GB/s; 0: no limit. The default is what each of eight H100 has for
  // each of its peers.
  double useful_gbps_per_peer = 50;

  // GB/s that a pod of so many chips can use. distributed: it is one of several of a job.
  // declared_need: 0 if it declares none.
  double ceiling(int chips, bool distributed, double declared_need) const;
};

struct ScoreInput {
  double gbps = 0;          // that the request can use; 0 if bandwidth does not matter
  double unusable = 0;      // by how many more free chips are unusable for others; may be below 0
  double machine_gbps = 0;  // of the whole machine
  int left_over = 0;        // free chips that remain
  std::uint32_t order = 0;  // position of the name; ties go to the lowest
  double fast_chips = 0;    // that others lose with the machine if no candidate's is faster
  int far = 0;              // levels of the network that it does not share with pods of its job
  int other_leaves = 0;     // 1: on other leaf switches than all of these pods
  int breaks = 0;           // levels of the network on which it is the first in its domain
};
ScoreInput score_input(const NodeOffer& offer, double ceiling, std::uint32_t order);

// Compares the candidates of one request; a strict weak order.
class NodeOrder {
 public:
  NodeOrder() = default;
  NodeOrder(std::span<const ScoreInput> candidates, double tolerance);

  // A candidate's place: the lowest is best.
  struct Rank {
    int step = 0;
    int far = 0;
    int other_leaves = 0;
    std::int64_t loss = 0;  // in billionths of a chip
    int breaks = 0;
    int left_over = 0;
    std::uint32_t order = 0;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };
  Rank rank(const ScoreInput& c) const;
  // Whether a comes before b.
  bool better(const ScoreInput& a, const ScoreInput& b) const { return rank(a) < rank(b); }
  // Steps of the tolerance below the fastest candidate; 0: as fast.
  int step(double gbps) const;
  // What others lose, in chips: those made unusable, and fast_chips of the fastest machine, times
  // this machine's share of its speed.
  double loss(const ScoreInput& c) const;

 private:
  double fastest_ = 0;
  double fastest_machine_ = 0;
  double fast_chips_ = 0;  // of that machine
  double log_step_ = 1;    // logarithm of one step
};

struct NodeScores {
  std::vector<int> levels;  // 0..9 by candidate
  std::size_t best = 0;  // the candidate that gets kBestScore instead; undefined if there are none
};
inline constexpr int kBestScore = 10;

// Inputs that differ only in `order` get equal levels. O(n log n).
NodeScores score_nodes(std::span<const ScoreInput> candidates, const NodeOrder& order);
// NodeScores::best alone. O(n).
std::size_t best_node(std::span<const ScoreInput> candidates, const NodeOrder& order);

// The level, 0..9, of a node for a pod without chips, which had better not take CPU and memory from
// chips that are free: higher the fewer there are.
int level_without_chips(int free_chips);

}  // namespace chipweave::solver
