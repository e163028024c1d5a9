// PackedCost — what a placement costs, as two numbers that compare and add like lists: how many
// domains it uses at each level from the coarsest to the nodes, and then how many chips are free in
// the used ones, in the same order (what is placed is the same for all, so the least free is the
// tightest). CostLayout says which bits are whose.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace chipweave::solver {

__extension__ using Wide = unsigned __int128;

struct PackedCost {
  Wide counts = 0;
  Wide tight = 0;

  friend bool operator<(const PackedCost& a, const PackedCost& b) {
    return a.counts != b.counts ? a.counts < b.counts : a.tight < b.tight;
  }
  friend bool operator==(const PackedCost& a, const PackedCost& b) {
    return a.counts == b.counts && a.tight == b.tight;
  }
  friend PackedCost operator+(const PackedCost& a, const PackedCost& b) {
    return {a.counts + b.counts, a.tight + b.tight};
  }
};
inline constexpr PackedCost kImpossible{~Wide{0}, ~Wide{0}};

// Fields: one a level, and one for the nodes at the end. What does not fit any more, at the fine
// end, is left out; whole() says so of the counts.
class CostLayout {
 public:
  // most_used: a field's greatest count; most_free: the greatest sum of free chips.
  CostLayout(const std::vector<std::uint64_t>& most_used, std::uint64_t most_free) {
    std::vector<int> widths;
    widths.reserve(most_used.size());
    for (const std::uint64_t most : most_used) widths.push_back(width(most));
    whole_ = lay(widths, counts_);
    (void)lay(std::vector<int>(most_used.size(), width(most_free)), tight_);
    widths_ = std::move(widths);
  }

  bool whole() const { return whole_; }
  // One domain of that level (or one node: the last field) with so many free chips.
  PackedCost one(std::size_t field, std::uint64_t free) const {
    PackedCost cost;
    if (counts_[field] >= 0) cost.counts = Wide{1} << static_cast<unsigned>(counts_[field]);
    if (tight_[field] >= 0) cost.tight = Wide{free} << static_cast<unsigned>(tight_[field]);
    return cost;
  }
  std::uint64_t count(const PackedCost& cost, std::size_t field) const {
    if (counts_[field] < 0) return 0;
    const Wide mask = (Wide{1} << static_cast<unsigned>(widths_[field])) - 1;
    return static_cast<std::uint64_t>((cost.counts >> static_cast<unsigned>(counts_[field])) &
                                      mask);
  }

 private:
  static int width(std::uint64_t most) { return static_cast<int>(std::bit_width(most)); }
  // Shifts from the top; -1: no room.
  static bool lay(const std::vector<int>& widths, std::vector<int>& shifts) {
    int at = 127;  // the highest bit is never set, so that kImpossible is more than all
    bool all = true;
    for (const int width : widths) {
      all = all && at >= width;
      at = all ? at - width : at;
      shifts.push_back(all ? at : -1);
    }
    return all;
  }

  std::vector<int> widths_;
  std::vector<int> counts_;
  std::vector<int> tight_;
  bool whole_ = true;
};

}  // namespace chipweave::solver
