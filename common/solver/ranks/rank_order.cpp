#include "common/solver/ranks/rank_order.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "common/base/natural_order.hpp"
#include "common/solver/ranks/rank_domains.hpp"

namespace chipweave::solver {

std::vector<std::size_t> depth_first(std::size_t levels, const std::vector<RankPath>& pods) {
  std::vector<std::size_t> order(pods.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (pods.empty()) return order;
  const RankDomains domains = rank_domains(levels, pods);
  const std::vector<std::uint32_t>& first = domains.of_pod.front();
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    for (std::size_t level = 0; level < levels; ++level) {
      const std::uint32_t x = domains.of_pod[a][level];
      const std::uint32_t y = domains.of_pod[b][level];
      if (x == y) continue;
      const std::string& of_x = domains.names[x];
      const std::string& of_y = domains.names[y];
      if (of_x.empty() || of_y.empty()) return of_y.empty();
      if (x == first[level] || y == first[level]) return x == first[level];
      return natural_less(of_x, of_y);
    }
    return false;
  });
  return order;
}

std::vector<std::size_t> ring_crossings(std::size_t levels, const std::vector<RankPath>& pods,
                                        const std::vector<std::size_t>& order) {
  std::vector<std::size_t> crossings(levels, 0);
  const RankDomains domains = rank_domains(levels, pods);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& here = domains.of_pod[order[i]];
    const auto& next = domains.of_pod[order[(i + 1) % order.size()]];
    for (std::size_t level = 0; level < levels; ++level) {
      if (here[level] != next[level]) ++crossings[level];
    }
  }
  return crossings;
}

}  // namespace chipweave::solver
