// CostLayout — how a placement's cost is packed into two numbers that compare and add like lists:
// the domains that it uses at each level from the coarsest to the nodes (Counts), and the free
// chips in them in the same order (Tight: what is placed is the same for all, so the least free is
// the tightest).
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

// What does not fit any more, at the fine end, is left out; whole() says so of the counts.
class CostLayout {
 public:
  // most_used: a field's greatest count, 0: of no interest; most_free: the greatest sum of chips.
  CostLayout(const std::vector<std::uint64_t>& most_used, std::uint64_t most_free) {
    whole_ = lay(most_used, 62, counts_);
    std::vector<std::uint64_t> free;
    free.reserve(most_used.size());
    for (const std::uint64_t most : most_used) free.push_back(most == 0 ? 0 : most_free);
    (void)lay(free, 127, tight_);
  }

  bool whole() const { return whole_; }
  // So many domains of that level; nodes: the last field.
  Counts count(std::size_t field, std::uint64_t domains = 1) const {
    return counts_[field] < 0 ? 0 : domains << static_cast<unsigned>(counts_[field]);
  }
  Tight tight(std::size_t field, std::uint64_t free) const {
    return tight_[field] < 0 ? 0 : Tight{free} << static_cast<unsigned>(tight_[field]);
  }

 private:
  static int width(std::uint64_t most) { return static_cast<int>(std::bit_width(most)); }
  // Shifts from the top; -1: no room, or of no interest.
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
