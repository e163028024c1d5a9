// Building blocks of every heuristic tour in the solver: nearest neighbour and 2-opt, for any
// cost of a hop. Stops are numbered 0..n-1, n at most 64. Deterministic: among equals the lowest
// number and the first exchange win.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace chipweave::solver {

using Ring = std::vector<int>;  // stops in the order of the tour

// Starts at `first` and always continues to the closest remaining stop with allowed(stop,
// position). closer(from, a, b): whether a is strictly closer to `from` than b. At every position
// some stop must be allowed. O(n²).
template <class Allowed, class Closer>
Ring nearest_neighbour(int n, int first, const Allowed& allowed, const Closer& closer) {
  Ring ring{first};
  ring.reserve(static_cast<std::size_t>(n));
  std::uint64_t left = (~std::uint64_t{0} >> (64 - n)) & ~(std::uint64_t{1} << first);
  while (left != 0) {
    int next = -1;
    for (std::uint64_t rest = left; rest != 0; rest &= rest - 1) {
      const int stop = std::countr_zero(rest);
      if (!allowed(stop, ring.size())) continue;
      if (next < 0 || closer(ring.back(), stop, next)) next = stop;
    }
    ring.push_back(next);
    left &= ~(std::uint64_t{1} << next);
  }
  return ring;
}

// Reverses stretches of the ring as long as that makes it cheaper, in at most max_passes passes
// over all pairs of hops, O(n²) each. cost(a, b): of a hop. cheaper(then, now): whether two hops
// that cost `then` are worth taking in place of two that cost `now`. Returns the passes made.
template <class Cost, class Cheaper>
std::uint64_t two_opt(Ring& ring, std::uint64_t max_passes, const Cost& cost,
                      const Cheaper& cheaper) {
  const std::size_t n = ring.size();
  std::uint64_t passes = 0;
  for (bool better = true; better && passes < max_passes; ++passes) {
    better = false;
    for (std::size_t a = 0; a + 2 < n; ++a) {
      for (std::size_t b = a + 2; b < n; ++b) {
        if (a == 0 && b == n - 1) continue;
        const int after_b = ring[b + 1 < n ? b + 1 : 0];
        const double now = cost(ring[a], ring[a + 1]) + cost(ring[b], after_b);
        const double then = cost(ring[a], ring[b]) + cost(ring[a + 1], after_b);
        if (!cheaper(then, now)) continue;
        std::reverse(ring.begin() + static_cast<std::ptrdiff_t>(a) + 1,
                     ring.begin() + static_cast<std::ptrdiff_t>(b) + 1);
        better = true;
      }
    }
  }
  return passes;
}

}  // namespace chipweave::solver
