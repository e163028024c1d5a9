#include "common/solver/bandwidth.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "common/solver/hamilton.hpp"
#include "common/solver/ring_graph.hpp"
#include "common/solver/ring_packing.hpp"

namespace chipweave::solver {
namespace {

// Whether a Hamiltonian cycle exists, where cheap theorems decide it for any size.
enum class Verdict { yes, no, unknown };

Verdict cheap_verdict(const std::array<std::uint64_t, limits::kMaxChips>& adjacent, ChipSet set) {
  const int n = set.size();
  int least = n;
  for (const int a : set)
    least = std::min(least, std::popcount(adjacent[static_cast<std::size_t>(a)] & set.bits()));
  if (least < 2) return Verdict::no;
  if (2 * least >= n) return Verdict::yes;  // Dirac
  std::uint64_t reached = std::uint64_t{1} << set.lowest();
  for (std::uint64_t frontier = reached; frontier != 0;) {
    std::uint64_t next = 0;
    for (const int a : ChipSet(frontier)) next |= adjacent[static_cast<std::size_t>(a)];
    frontier = next & set.bits() & ~reached;
    reached |= frontier;
  }
  return reached == set.bits() ? Verdict::unknown : Verdict::no;
}

Verdict ring_verdict(const std::array<std::uint64_t, limits::kMaxChips>& adjacent, ChipSet set) {
  const Verdict cheap = cheap_verdict(adjacent, set);
  if (cheap != Verdict::unknown || set.size() > kMaxRingChips) return cheap;
  std::array<int, kMaxRingChips> slots{};
  int n = 0;
  for (const int s : set) slots[static_cast<std::size_t>(n++)] = s;
  std::array<std::uint32_t, kMaxRingChips> local{};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const std::uint64_t row =
          adjacent[static_cast<std::size_t>(slots[static_cast<std::size_t>(i)])];
      if (i != j && (row >> slots[static_cast<std::size_t>(j)] & 1U) != 0)
        local[static_cast<std::size_t>(i)] |= 1U << j;
    }
  }
  return has_hamiltonian_cycle(n, local) ? Verdict::yes : Verdict::no;
}

}  // namespace

BandwidthModel::BandwidthModel(const Wiring& wiring) : wiring_(wiring), n_(wiring.chip_count()) {
  hop_.assign(static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_), 0);
  fast_ = hop_;
  for (int a = 0; a < n_; ++a) {
    for (int b = 0; b < n_; ++b) {
      if (a == b) continue;
      Rate over_planes = 0;
      for (const Plane& p : wiring.planes()) {
        if (p.members.contains(a) && p.members.contains(b)) {
          over_planes += std::min(p.egress[static_cast<std::size_t>(a)],
                                  p.egress[static_cast<std::size_t>(b)]);
        }
      }
      fast_[at(a, b)] = std::max(wiring.direct(a, b), over_planes);
      hop_[at(a, b)] = std::max({fast_[at(a, b)], wiring.routed(a, b), wiring.host(a, b)});
    }
  }
}

Bandwidth BandwidthModel::of(ChipSet set) {
  if (set.size() < 2) return {};
  if (const Bandwidth* known = memo_.find(set.bits())) return *known;
  Bandwidth out = fast_rings(set);
  // The bottleneck ring matters only if it can beat what the fast rings carry.
  if (out.rate < widest_bound(set)) {
    const Bandwidth slow = bottleneck_ring(set);
    out = {std::max(out.rate, slow.rate), std::max(out.bound, slow.bound)};
  }
  memo_.insert(set.bits(), out);
  return out;
}

Rate BandwidthModel::degree_bound(ChipSet set) const {
  Rate least = std::numeric_limits<Rate>::max();
  for (const int a : set) {
    Rate sum = 0;
    int partners = 0;
    for (const int b : set) {
      if (a == b || fast(a, b) == 0) continue;
      ++partners;
      sum += wiring_.direct(a, b);
    }
    if (partners < 2 && set.size() > 2) return 0;
    for (const Plane& p : wiring_.planes()) {
      if (p.members.contains(a) && (p.members & set).size() >= 2)
        sum += p.egress[static_cast<std::size_t>(a)];
    }
    least = std::min(least, sum);
  }
  return least;
}

Bandwidth BandwidthModel::fast_rings(ChipSet set) const {
  if (set.size() <= kMaxRingChips) {
    const Packing packing = pack_rings(RingGraph(wiring_, set));
    return {packing.rate, packing.bound};
  }
  const Rate bound = degree_bound(set);
  if (bound == 0) return {0, 0};
  // Uniform structures have closed forms at any size.
  const int first = set.lowest();
  const Rate link = wiring_.direct(first, (set - ChipSet{first}).lowest());
  bool same_links = link > 0;
  Rate least_egress = std::numeric_limits<Rate>::max();
  const Plane* plane = wiring_.planes().size() == 1 ? &wiring_.planes()[0] : nullptr;
  if (plane != nullptr && !plane->members.contains(set)) plane = nullptr;
  for (const int a : set) {
    for (const int b : set) {
      if (a == b) continue;
      same_links = same_links && wiring_.direct(a, b) == link && fast(a, b) == link;
      if (wiring_.direct(a, b) > 0) plane = nullptr;
    }
    if (plane != nullptr)
      least_egress = std::min(least_egress, plane->egress[static_cast<std::size_t>(a)]);
  }
  if (same_links) return {link * (set.size() - 1), link * (set.size() - 1)};
  if (plane != nullptr) return {least_egress, least_egress};
  return {0, bound};
}

// M2: the largest t for which the pairs with a hop of at least t hold a Hamiltonian cycle.
Bandwidth BandwidthModel::bottleneck_ring(ChipSet set) const {
  const Rate staged = wiring_.p2p() ? std::numeric_limits<Rate>::max() : staged_limit(set);
  const auto limited = [this, staged](Rate t) {
    return t <= wiring_.port() ? std::min(t, staged) : t;
  };
  if (set.size() == 2) {
    const int a = set.lowest();
    const Rate t = hop(a, (set - ChipSet{a}).lowest());
    return {limited(t), limited(t)};
  }
  std::vector<Rate> levels;
  for (const int a : set) {
    for (const int b : set) {
      if (a < b) levels.push_back(hop(a, b));
    }
  }
  std::sort(levels.begin(), levels.end(), std::greater<>());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  Rate bound = 0;
  std::array<std::uint64_t, limits::kMaxChips> adjacent{};
  for (const Rate t : levels) {
    for (const int a : set) {
      for (const int b : set) {
        if (a != b && hop(a, b) >= t)
          adjacent[static_cast<std::size_t>(a)] |= std::uint64_t{1} << b;
      }
    }
    const Verdict verdict = ring_verdict(adjacent, set);
    if (verdict == Verdict::yes) return {limited(t), std::max(bound, limited(t))};
    if (verdict == Verdict::unknown && bound == 0) bound = limited(t);
  }
  return {0, 0};  // not reached: at the least level the graph is complete
}

// Without peer-to-peer every chip writes to and reads from host memory at the ring's rate: chips
// behind one uplink share its port, chips of one socket share its memory path (about two ports'
// worth: docs/bandwidth-model.md).
Rate BandwidthModel::staged_limit(ChipSet set) const {
  Rate limit = std::numeric_limits<Rate>::max();
  for (const ChipSet group : wiring_.uplink_groups()) {
    const int k = (group & set).size();
    if (k > 1) limit = std::min(limit, wiring_.port() / k);
  }
  for (const ChipSet group : wiring_.numa_groups()) {
    const int k = (group & set).size();
    if (k > 1) limit = std::min(limit, 2 * wiring_.port() / k);
  }
  return limit;
}

// A ring enters and leaves each chip by two different hops: no bottleneck beats any chip's second
// widest.
Rate BandwidthModel::widest_bound(ChipSet set) const {
  Rate widest = std::numeric_limits<Rate>::max();
  for (const int a : set) {
    Rate first = 0;
    Rate second = 0;
    for (const int b : set) {
      if (a == b) continue;
      const Rate h = hop(a, b);
      second = std::max(second, std::min(first, h));
      first = std::max(first, h);
    }
    widest = std::min(widest, set.size() == 2 ? first : second);
  }
  return widest;
}

Rate BandwidthModel::upper_bound(ChipSet set) const {
  if (set.size() < 2) return 0;
  const Rate widest = widest_bound(set);
  return set.size() == 2 ? widest : std::max(widest, degree_bound(set));
}

}  // namespace chipweave::solver
