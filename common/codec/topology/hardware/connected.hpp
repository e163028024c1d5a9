// Connected sets: members that are joined directly or through others. Internal to common/codec.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace chipweave::codec {

// 0…n-1 in connected sets, each ascending, in the order of their first members. joined(i, k) is
// called for i < k only.
template <class Joined>
std::vector<std::vector<std::size_t>> connected_sets(std::size_t n, const Joined& joined) {
  std::vector<std::vector<std::size_t>> out;
  std::vector<bool> taken(n, false);
  for (std::size_t first = 0; first < n; ++first) {
    if (taken[first]) continue;
    taken[first] = true;
    std::vector<std::size_t> reached = {first};
    for (std::size_t at = 0; at < reached.size(); ++at) {
      for (std::size_t k = first + 1; k < n; ++k) {
        const std::size_t from = reached[at];
        if (taken[k] || !(from < k ? joined(from, k) : joined(k, from))) continue;
        taken[k] = true;
        reached.push_back(k);
      }
    }
    std::sort(reached.begin(), reached.end());
    out.push_back(std::move(reached));
  }
  return out;
}

}  // namespace chipweave::codec
