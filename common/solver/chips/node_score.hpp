// Node score — which node a request should go to: comparable across machine kinds, in the range of
// kube-scheduler.
//
// Order: the share of the best bandwidth that this request could get anywhere now → packing (fewest
// chips left over) → natural name order. The best candidate alone gets 10; all others, its equals
// included, are spread over 0..9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace chipweave::solver {

struct ScoreInput {
  double gbps = 0;    // of the chips that the request would get; 0 where bandwidth does not matter
  int left_over = 0;  // free chips that would remain
  std::uint32_t order = 0;  // position of the name; ties go to the lowest
};

struct NodeScores {
  std::vector<int> levels;  // 0..9 by candidate, for a node that is not the best one
  std::size_t best =
      0;  // the candidate that gets kBestScore instead; undefined when there are none
};
inline constexpr int kBestScore = 10;

// Equal inputs but for `order` get equal levels. O(n).
NodeScores score_nodes(std::span<const ScoreInput> candidates);

// Whether a comes before b.
bool better_node(const ScoreInput& a, const ScoreInput& b);

}  // namespace chipweave::solver
