// CostLayout — packs the cost of a placement into two integers that compare and add like vectors:
// Counts, the used domains of each level from the coarsest to the nodes, and Tight, the free chips
// in them in the same order. The placed chips are the same for all, so fewer free chips are
// tighter.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace chipweave::solver {

using Counts = std::uint64_t;
__extension__ using Tight = unsigned __int128;

inline constexpr Counts kImpossible = std::numeric_limits<Counts>::max() / 2;
inline constexpr Tight kLoosest = ~Tight{0};

// Fields of the finest levels that do not fit are left out; whole() is then false.
class CostLayout {
 public:
  // most_used: the largest count of each field, 0: not needed. most_free: the largest sum of chips.
  CostLayout(const std::vector<std::uint64_t>& most_used, std::uint64_t most_free) {
    whole_ = lay(most_used, 62, counts_);
    std::vector<std::uint64_t> free;
    free.reserve(most_used.size());
    for (const std::uint64_t most : most_used) free.push_back(most == 0 ? 0 : most_free);
    (void)lay(free, 127, tight_);
  }

  bool whole() const { return whole_; }
  // The cost of so many domains of that level; the last field is for nodes.
  Counts count(std::size_t field, std::uint64_t domains = 1) const {
    return counts_[field] < 0 ? 0 : domains << static_cast<unsigned>(counts_[field]);
  }
  Tight tight(std::size_t field, std::uint64_t free) const {
    return tight_[field] < 0 ? 0 : Tight{free} << static_cast<unsigned>(tight_[field]);
  }

 private:
  static int width(std::uint64_t most) { return static_cast<int>(std::bit_width(most)); }
  // Shifts from the top; -1: left out.
  static bool lay(const std::vector<std::uint64_t>& most, int bits, std::vector<int>& shifts) {
    bool all = true;
    for (const std::uint64_t one : most) {
      if (one == 0) {
        shifts.push_back(-1);
        continue;
      }
      all = all && bits >= width(one);
      if (all) bits -= width(one);
      shifts.push_back(all ? bits : -1);
    }
    return all;
  }

  std::vector<int> counts_;
  std::vector<int> tight_;
  bool whole_ = true;
};

}  // namespace chipweave::solver
