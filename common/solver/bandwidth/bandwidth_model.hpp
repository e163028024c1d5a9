// BandwidthModel — predicted ring all-reduce bus bandwidth of a chip set on one wiring
// (docs/concepts/bandwidth-model.md).
//
//   B(S) = max( packing of fast rings (M3/M4: direct links and switch planes inside S),
//               best bottleneck ring with routed and host hops (M2 over the widest path of each
//               pair) )
//
// The second term decides only where S has no fast ring: a fast ring runs in both directions and in
// practice beats any host path. The maximum keeps the model monotone: taking a link down never
// raises a prediction. Exact up to 16 chips (on 64 shared switch planes) within the limits
// of steps.hpp; above, exact for uniform structures only, otherwise a rough packing with an upper
// bound. Memoised by set. Not thread-safe: owned by one Machine.
#pragma once

#include <array>

#include "common/solver/bandwidth/bandwidth.hpp"
#include "common/solver/bandwidth/flat_map.hpp"

namespace chipweave::solver {

class BandwidthModel {
 public:
  explicit BandwidthModel(const Wiring& wiring);

  // 0 for fewer than two chips. The first call computes a packing (ring_packing.hpp), later ones
  // look it up.
  Bandwidth of(ChipSet set);
  // No packing of `set` exceeds it; exact for two chips. O(n · neighbours), not memoised.
  Rate upper_bound(ChipSet set) const;
  // What upper_bound() is charged.
  Steps bound_steps(ChipSet set) const;
  // The widest path between two chips: direct, switch, routed over third chips, or host. Symmetric.
  Rate hop(int a, int b) const { return hop_[at(a, b)]; }
  // The same over a direct link or planes only; 0 if there is none.
  Rate fast(int a, int b) const { return fast_[at(a, b)]; }
  // The chips with a fast path to `a`.
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
  bool few_planes() const;  // with more, bounds take all planes of a chip together
  Rate degree_bound(ChipSet set) const;
  Rate widest_bound(ChipSet set) const;

  const Wiring& wiring_;
  int n_;
  std::vector<Rate> hop_, fast_;
  std::vector<Rate> all_egress_;  // by chip, over all planes
  std::vector<ChipSet> fast_partners_;
  std::vector<Rate> levels_;         // the distinct values of hop, descending
  std::vector<Adjacency> at_least_;  // by level: the pairs whose hop reaches it
  FlatMap<std::uint64_t, Bandwidth> memo_;
};

}  // namespace chipweave::solver
