// Node score — which node a request should go to: comparable across machine kinds, in the range of
// kube-scheduler.
//
// Order: predicted bandwidth as a share of the best that any candidate offers → packing (fewest
// chips left over) → natural order of names. The best candidate alone gets 10; all others,
// including its equals, get 0..9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace chipweave::solver {

struct ScoreInput {
  double gbps = 0;    // for the chips that the request would get; 0 if bandwidth does not matter
  int left_over = 0;  // free chips that remain
  std::uint32_t order = 0;  // position of the name; ties go to the lowest
};

struct NodeScores {
  std::vector<int> levels;  // 0..9 by candidate
  std::size_t best = 0;  // the candidate that gets kBestScore instead; undefined if there are none
};
inline constexpr int kBestScore = 10;

// Inputs that differ only in `order` get equal levels. O(n).
NodeScores score_nodes(std::span<const ScoreInput> candidates);

// Whether a comes before b.
bool better_node(const ScoreInput& a, const ScoreInput& b);

}  // namespace chipweave::solver
