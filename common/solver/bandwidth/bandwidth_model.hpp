// BandwidthModel — predicted ring all-reduce bus bandwidth of a chip set on one wiring
// (docs/concepts/bandwidth-model.md).
//
//   B(S) = max( packing of fast rings (M3/M4: direct links and switch planes inside S),
//               best bottleneck ring with routed and host hops allowed (M2 over the widest way of
//               each pair) )
//
// The second term decides only where S has no fast ring: a fast ring runs both ways and beats any
// host path in practice. Taking the maximum keeps the model monotone: a link that goes down never
// raises a prediction. Values are memoised by set. Exact up to 16 chips
// (within the limits of steps.hpp); above, only uniform structures are, the rest gets a rough
// packing as what surely works, and `bound` says what no ring can beat. Not thread-safe: owned by
// one Machine.
#pragma once

#include <array>

#include "common/solver/bandwidth/flat_map.hpp"
#include "common/solver/bandwidth/steps.hpp"
#include "common/solver/bandwidth/wiring.hpp"

namespace chipweave::solver {

struct Bandwidth {
  Rate rate = 0;
  Rate bound = 0;
  Steps steps = 0;  // what it took to find, also when it was known already
  bool exact() const { return rate == bound; }
};

class BandwidthModel {
 public:
  explicit BandwidthModel(const Wiring& wiring);

  // 0 for fewer than two chips. First time: a packing (ring_packing.hpp); afterwards a hash
  // look-up.
  Bandwidth of(ChipSet set);
  // No packing on `set` exceeds it; O(n · neighbours), no memo, exact for two chips.
  Rate upper_bound(ChipSet set) const;
  // The widest way between two chips: direct, switch, routed over third chips, or host. Symmetric.
  Rate hop(int a, int b) const { return hop_[at(a, b)]; }
  // The fast part of it (direct link or planes only); 0 where there is none.
  Rate fast(int a, int b) const { return fast_[at(a, b)]; }
  // The chips that have a fast way to `a`.
  ChipSet fast_partners(int a) const { return fast_partners_[static_cast<std::size_t>(a)]; }

 private:
  std::size_t at(int a, int b) const {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(b);
  }
  using Adjacency = std::array<std::uint64_t, limits::kMaxChips>;  // by chip, its partners
  bool fast_ring_possible(ChipSet set) const;
  bool uniform_rate(ChipSet set, Rate& rate) const;
  Bandwidth fast_rings(ChipSet set) const;
  Bandwidth bottleneck_ring(ChipSet set) const;
  Rate staged_limit(ChipSet set) const;
  Rate degree_bound(ChipSet set) const;
  Rate widest_bound(ChipSet set) const;

  const Wiring& wiring_;
  int n_;
  std::vector<Rate> hop_, fast_;
  std::vector<ChipSet> fast_partners_;
  std::vector<Rate> levels_;         // the different values of hop, falling
  std::vector<Adjacency> at_least_;  // by level: the pairs whose hop reaches it
  FlatMap<std::uint64_t, Bandwidth> memo_;
};

}  // namespace chipweave::solver
