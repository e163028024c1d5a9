#include "common/solver/gang/defrag/search/hole_tree.hpp"

#include <algorithm>

namespace chipweave::solver {

HoleTree::HoleTree(std::size_t nodes) {
  while (static_cast<std::size_t>(width_) < nodes) width_ *= 2;
  cells_.resize(static_cast<std::size_t>(width_) * 2);
}

void HoleTree::set(int node, std::int64_t chips) {
  std::size_t cell = static_cast<std::size_t>(width_) + static_cast<std::size_t>(node);
  cells_[cell] =
      chips > 0 ? Cell{std::uint64_t{1} << std::min(chips, kMaxExactSize), chips} : Cell{};
  while (cell > 1) {
    cell /= 2;
    const Cell& left = cells_[cell * 2];
    const Cell& right = cells_[cell * 2 + 1];
    cells_[cell] = {left.sizes | right.sizes, std::max(left.most, right.most)};
  }
}

std::uint64_t HoleTree::sizes_in(std::size_t cell, int from, int to, int first, int last) const {
  if (to <= first || last <= from) return 0;
  if (first <= from && to <= last) return cells_[cell].sizes;
  const int middle = from + (to - from) / 2;
  return sizes_in(cell * 2, from, middle, first, last) |
         sizes_in(cell * 2 + 1, middle, to, first, last);
}

// The first node of that size with at least so many chips. Where only the last bit tells the size,
// `most` decides, and a range may be searched in vain at its borders only.
int HoleTree::find(std::size_t cell, int from, int to, int first, int last, std::uint64_t size,
                   std::int64_t chips) const {
  if (to <= first || last <= from) return kNone;
  if ((cells_[cell].sizes & size) == 0 || cells_[cell].most < chips) return kNone;
  if (to - from == 1) return from;
  const int middle = from + (to - from) / 2;
  const int left = find(cell * 2, from, middle, first, last, size, chips);
  return left != kNone ? left : find(cell * 2 + 1, middle, to, first, last, size, chips);
}

int HoleTree::best_fit(std::int64_t chips, int first, int last) const {
  const std::uint64_t large_enough = ~std::uint64_t{0} << std::min(chips, kMaxExactSize);
  const std::uint64_t sizes = sizes_in(1, 0, width_, first, last) & large_enough;
  if (sizes == 0) return kNone;
  const std::uint64_t smallest = sizes & (~sizes + 1);
  return find(1, 0, width_, first, last, smallest, chips);
}

}  // namespace chipweave::solver
