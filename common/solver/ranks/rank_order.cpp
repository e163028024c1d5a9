#include "common/solver/ranks/rank_order.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "common/base/natural_order.hpp"

namespace chipweave::solver {

RankDomains rank_domains(std::size_t levels, const std::vector<RankPath>& pods) {
  RankDomains out;
  out.names.emplace_back();  // the root
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> children;
  for (const RankPath& path : pods) {
    std::vector<std::uint32_t>& numbers = out.of_pod.emplace_back();
    std::uint32_t at = 0;
    bool known = true;
    for (std::size_t level = 0; level < levels; ++level) {
      known = known && level < path.size() && !path[level].empty();
      const std::string name = known ? path[level] : std::string();
      const auto [it, fresh] =
          children.try_emplace({at, name}, static_cast<std::uint32_t>(out.names.size()));
      if (fresh) out.names.push_back(name);
      at = it->second;
      numbers.push_back(at);
    }
  }
  return out;
}

std::vector<std::size_t> as_given(std::size_t pods) {
  std::vector<std::size_t> out(pods);
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

std::vector<std::size_t> depth_first(std::size_t levels, const std::vector<RankPath>& pods) {
  std::vector<std::size_t> order = as_given(pods.size());
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
