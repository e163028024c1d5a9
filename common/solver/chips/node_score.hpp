// Node score — which node a request should go to: comparable across machine kinds, in the range of
// kube-scheduler.
//
// Order: bandwidth that the request can use, in steps of the tolerance below the best that any
// candidate offers → what is left for others: fewest free chips made unusable for the sizes that
// are common, then the slowest machine, then fewest chips left over → natural order of names. The
// best candidate alone gets 10; all others, including its equals, get 0..9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/solver/chips/node_offer.hpp"

namespace chipweave::solver {

// How the choice weighs speed against what is left for others.
struct NodePreference {
  // Bandwidths that differ by no more than this share count as equal. 0..1
  double tolerance = 0.05;
  // A pod of n chips that declares no need can use (n - 1) times this, in GB/s; 0: no limit.
  double useful_gbps_per_peer = 100;
  SizeMix mix = kEvenMix;

  // GB/s that a request for so many chips can use. declared: its own need; 0: none.
  double ceiling(int chips, double declared) const;
};

struct ScoreInput {
  double gbps = 0;          // that the request can use; 0 if bandwidth does not matter
  double loss = 0;          // free chips that become unusable to others, expected; may be below 0
  double machine_gbps = 0;  // of the whole machine
  int left_over = 0;        // free chips that remain
  std::uint32_t order = 0;  // position of the name; ties go to the lowest
};
ScoreInput score_input(const NodeOffer& offer, double ceiling, const NodePreference& preference,
                       std::uint32_t order);

// Compares candidates of one request; a strict weak order.
class NodeOrder {
 public:
  // fastest: the most `gbps` of all candidates.
  NodeOrder(double fastest, double tolerance);
  // Whether a comes before b.
  bool better(const ScoreInput& a, const ScoreInput& b) const;
  // Steps of the tolerance below the fastest; 0: as fast.
  int step(double gbps) const;

 private:
  double fastest_;
  double log_step_;  // logarithm of one step
};

struct NodeScores {
  std::vector<int> levels;  // 0..9 by candidate
  std::size_t best = 0;  // the candidate that gets kBestScore instead; undefined if there are none
};
inline constexpr int kBestScore = 10;

// Inputs that differ only in `order` get equal levels. O(n log n).
NodeScores score_nodes(std::span<const ScoreInput> candidates, double tolerance);
// NodeScores::best alone. O(n).
std::size_t best_node(std::span<const ScoreInput> candidates, double tolerance);

}  // namespace chipweave::solver
