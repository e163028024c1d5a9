#include "common/solver/bandwidth/bandwidth_model.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>

#include "common/solver/bandwidth/connected.hpp"
#include "common/solver/bandwidth/rings/hamilton.hpp"
#include "common/solver/bandwidth/rings/ring_graph.hpp"
#include "common/solver/bandwidth/rings/ring_packing.hpp"
#include "common/solver/bandwidth/rings/rough_packing.hpp"

namespace chipweave::solver {
namespace {

// Whether a Hamiltonian cycle exists, as far as cheap theorems decide it at any size.
enum class Verdict { yes, no, unknown };

Verdict cheap_verdict(const std::array<std::uint64_t, limits::kMaxChips>& adjacent, ChipSet set) {
  const int n = set.size();
  int least = n;
  for (const int a : set)
    least = std::min(least, std::popcount(adjacent[static_cast<std::size_t>(a)] & set.bits()));
  if (least < 2) return Verdict::no;
  if (2 * least >= n) return Verdict::yes;  // Dirac
  const bool is_connected =
      connected(set.bits(), [&adjacent](int a) { return adjacent[static_cast<std::size_t>(a)]; });
  return is_connected ? Verdict::unknown : Verdict::no;
}

Verdict ring_verdict(const std::array<std::uint64_t, limits::kMaxChips>& adjacent, ChipSet set,
                     Steps& steps) {
  steps += static_cast<Steps>(set.size()) * 4;
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
  if (n < 1) return Verdict::no;
  steps += static_cast<Steps>(n) << static_cast<unsigned>(n - 1);
  return has_hamiltonian_cycle(n, local) ? Verdict::yes : Verdict::no;
}

}  // namespace

BandwidthModel::BandwidthModel(const Wiring& wiring) : wiring_(wiring), n_(wiring.chip_count()) {
  hop_.assign(static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_), 0);
  fast_ = hop_;
  fast_partners_.assign(static_cast<std::size_t>(n_), ChipSet());
  all_egress_.assign(static_cast<std::size_t>(n_), 0);
  for (int a = 0; a < n_; ++a) {
    for (const Plane& p : wiring.planes()) {
      if (p.members.contains(a))
        all_egress_[static_cast<std::size_t>(a)] += p.egress[static_cast<std::size_t>(a)];
    }
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
      if (fast_[at(a, b)] > 0) fast_partners_[static_cast<std::size_t>(a)].insert(b);
      if (a < b) levels_.push_back(hop_[at(a, b)]);
    }
  }
  std::sort(levels_.begin(), levels_.end(), std::greater<>());
  levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
  at_least_.assign(levels_.size(), Adjacency{});
  for (int a = 0; a < n_; ++a) {
    for (int b = 0; b < n_; ++b) {
      if (a == b) continue;
      const auto first =
          std::lower_bound(levels_.begin(), levels_.end(), hop(a, b), std::greater<>()) -
          levels_.begin();
      at_least_[static_cast<std::size_t>(first)][static_cast<std::size_t>(a)] |= std::uint64_t{1}
                                                                                 << b;
    }
  }
  for (std::size_t k = 1; k < at_least_.size(); ++k) {
    for (std::size_t a = 0; a < static_cast<std::size_t>(n_); ++a)
      at_least_[k][a] |= at_least_[k - 1][a];
  }
}

Bandwidth BandwidthModel::of(ChipSet set) {
  if (set.size() < 2) return {};
  if (const Bandwidth* known = memo_.find(set.bits())) return *known;
  Bandwidth out = fast_rings(set);
  // The bottleneck ring matters only if it can beat what the fast rings carry.
  if (out.rate < widest_bound(set)) {
    const Bandwidth slow = bottleneck_ring(set);
    out = {std::max(out.rate, slow.rate), std::max(out.bound, slow.bound), out.steps + slow.steps};
  }
  memo_.insert(set.bits(), out);
  return out;
}

bool BandwidthModel::few_planes() const {
  constexpr std::size_t kFewPlanes = 16;
  return wiring_.planes().size() <= kFewPlanes;
}

Rate BandwidthModel::degree_bound(ChipSet set) const {
  Rate least = std::numeric_limits<Rate>::max();
  for (const int a : set) {
    const ChipSet partners = fast_partners(a) & set;
    if (partners.size() < 2 && set.size() > 2) return 0;
    Rate sum = 0;
    for (const int b : partners) sum += wiring_.direct(a, b);
    if (!few_planes()) {
      sum += all_egress_[static_cast<std::size_t>(a)];
    } else {
      for (const Plane& p : wiring_.planes()) {
        if (p.members.contains(a) && (p.members & set).size() >= 2)
          sum += p.egress[static_cast<std::size_t>(a)];
      }
    }
    least = std::min(least, sum);
  }
  return least;
}

// A necessary condition: the fast paths connect the set, also without any one of its chips.
bool BandwidthModel::fast_ring_possible(ChipSet set) const {
  for (const int a : set) {
    if (!connected((set - ChipSet{a}).bits(), [this](int b) { return fast_partners(b).bits(); }))
      return false;
  }
  return true;
}

// Uniform structures have closed forms at any size: equal links, or one switch.
bool BandwidthModel::uniform_rate(ChipSet set, Rate& rate) const {
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
    if (!same_links && plane == nullptr) return false;
    if (plane != nullptr)
      least_egress = std::min(least_egress, plane->egress[static_cast<std::size_t>(a)]);
  }
  rate = same_links ? link * (set.size() - 1) : least_egress;
  return true;
}

Bandwidth BandwidthModel::fast_rings(ChipSet set) const {
  const Steps scan = static_cast<Steps>(set.size()) * static_cast<Steps>(set.size());
  if (set.size() <= kMaxRingChips) {
    const Steps planes = scan * wiring_.planes().size();
    const RingGraph graph(wiring_, set);
    if (!graph.too_many_planes()) {
      Bandwidth packed = pack_rings(graph, steps_for(n_).set);
      packed.steps += planes;
      return packed;
    }
  }
  const Rate bound = degree_bound(set);
  if (bound == 0) return {0, 0, scan};
  Rate rate = 0;
  if (uniform_rate(set, rate)) return {rate, rate, scan};
  if (!fast_ring_possible(set)) return {0, 0, 2 * scan};
  Bandwidth rough = pack_roughly(wiring_, set, bound, steps_for(n_).set);
  rough.steps += 2 * scan;
  return rough;
}

// M2: the largest t for which the pairs with a hop of at least t contain a Hamiltonian cycle.
// Adding pairs never removes a cycle, so a binary search over the levels finds it.
Bandwidth BandwidthModel::bottleneck_ring(ChipSet set) const {
  const Rate staged = wiring_.p2p() ? std::numeric_limits<Rate>::max() : staged_limit(set);
  const auto limited = [this, staged](Rate t) {
    return t <= wiring_.port() ? std::min(t, staged) : t;
  };
  if (set.size() == 2) {
    const int a = set.lowest();
    const Rate t = hop(a, (set - ChipSet{a}).lowest());
    return {limited(t), limited(t), 1};
  }
  Steps steps = 0;
  // The first level where the verdict is yes (or, if the flag is set, anything but no); at the last
  // level the graph is complete.
  const auto first_level = [&](std::size_t from, std::size_t to, bool perhaps) {
    while (from < to) {
      const std::size_t middle = from + (to - from) / 2;
      const Verdict verdict = ring_verdict(at_least_[middle], set, steps);
      if (verdict == Verdict::yes || (perhaps && verdict == Verdict::unknown)) {
        to = middle;
      } else {
        from = middle + 1;
      }
    }
    return from;
  };
  const std::size_t certain = first_level(0, levels_.size() - 1, false);
  const std::size_t possible = set.size() > kMaxRingChips ? first_level(0, certain, true) : certain;
  return {limited(levels_[certain]), limited(levels_[possible]), steps};
}

// Without peer-to-peer every chip writes to and reads from host memory at the ring's rate: chips
// behind one uplink share its port, chips of one socket share its memory path (about two ports'
// worth: docs/concepts/bandwidth-model.md).
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
  if (set.size() == 2) return hop(set.lowest(), (set - ChipSet{set.lowest()}).lowest());
  std::size_t from = 0;
  std::size_t to = levels_.size() - 1;
  while (from < to) {
    const std::size_t middle = from + (to - from) / 2;
    const Adjacency& near = at_least_[middle];
    bool enough = true;
    for (const int a : set) {
      const std::uint64_t partners = near[static_cast<std::size_t>(a)] & set.bits();
      enough = enough && (partners & (partners - 1)) != 0;  // two at least
    }
    if (enough) {
      to = middle;
    } else {
      from = middle + 1;
    }
  }
  return levels_[from];
}

Steps BandwidthModel::bound_steps(ChipSet set) const {
  const auto n = static_cast<Steps>(set.size());
  return 2 * n * (n + (few_planes() ? wiring_.planes().size() : 0) + 4);
}

Rate BandwidthModel::upper_bound(ChipSet set) const {
  if (set.size() < 2) return 0;
  const Rate widest = widest_bound(set);
  return set.size() == 2 ? widest : std::max(widest, degree_bound(set));
}

}  // namespace chipweave::solver
