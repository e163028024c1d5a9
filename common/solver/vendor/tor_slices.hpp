// tor_slices — logical leaves of NSLB 1.0: nodes of several leaf switches in rows, so that all rows
// use the same slices and links assigned by slice never carry two flows of a job. Internal to
// tor_affinity.
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
  std::vector<SliceNode> nodes;  // row by row, in a row by slice; empty: impossible
  bool fewest = true;            // proven to use the fewest leaves
};

// able[leaf][slice]: whether that node is available; every leaf has `slices` entries. Each slice
// gives pods / slices nodes, and pods % slices of them one more. Uses the fewest leaves, of those
// the ones with the fewest available nodes in total, then the first. Cost: O(leaves² x slices) for
// a first answer; then searches with one leaf less each, until kMaxRowSteps iterations of O(slices)
// in total. Exact for dozens of leaves with few slices or few kinds; for hundreds of leaves with
// random gaps most answers are not proven.
inline constexpr int kMaxRowSteps = 200'000;
SliceRows fewest_rows(const std::vector<std::vector<bool>>& able, std::size_t slices,
                      std::size_t pods);

}  // namespace chipweave::solver
