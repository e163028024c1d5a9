// HoleTree — finds, among a range of nodes, the one whose free chips fit a pod best: the fewest
// that suffice, then the first. O(log nodes) for a change and for a question.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace chipweave::solver {

class HoleTree {
 public:
  static constexpr int kNone = -1;

  explicit HoleTree(std::size_t nodes);
  // chips: 0 or less takes the node out.
  void set(int node, std::int64_t chips);
  // A node of [first, last) with at least `chips` (at least 1); kNone: there is none. Sizes from
  // kMaxExactSize on count as equal.
  int best_fit(std::int64_t chips, int first, int last) const;

  static constexpr std::int64_t kMaxExactSize = 63;

 private:
  struct Cell {
    std::uint64_t sizes = 0;  // bit k: a node with k chips; the last bit: with as many or more
    std::int64_t most = 0;
  };
  std::uint64_t sizes_in(std::size_t cell, int from, int to, int first, int last) const;
  int find(std::size_t cell, int from, int to, int first, int last, std::uint64_t size,
           std::int64_t chips) const;

  int width_ = 1;  // leaves, a power of two
  std::vector<Cell> cells_;
};

}  // namespace chipweave::solver
