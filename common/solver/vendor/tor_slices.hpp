// tor_slices — logical leaves of NSLB 1.0: nodes of several leaf switches in rows, so that all rows
// use the same slices and links that are dealt out by slice never carry two flows of a job.
// Internal to tor_affinity.
#pragma once

#include <cstddef>
#include <vector>

namespace chipweave::solver {

struct SliceNode {
  std::size_t leaf = 0;  // position among the leaves given
  std::size_t slice = 0;
  std::size_t row = 0;
};

struct SliceRows {
  std::vector<SliceNode> nodes;  // row by row, in a row by slice; empty: there is no way
  bool fewest = true;            // proven: no way uses fewer
};

// `able[leaf][slice]`: the nodes to be had; every leaf has `slices` of them. Of `pods` nodes, each
// slice gives pods / slices, and pods % slices of them one more. Uses the fewest leaves, of those
// with the fewest nodes to be had in sum; of leaves that are alike the first.
// Cost: O(leaves^2 x slices) at most for a first answer; then one leaf less again and again, by a
// search that ends after kMaxRowSteps turns, each O(slices), with the best found. It is exact for
// dozens of leaves of few slices or few kinds; with gaps at random under hundreds most answers are
// not proven.
inline constexpr int kMaxRowSteps = 200'000;
SliceRows fewest_rows(const std::vector<std::vector<bool>>& able, std::size_t slices,
                      std::size_t pods);

}  // namespace chipweave::solver
