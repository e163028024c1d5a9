#include "common/solver/ranks/route_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "common/base/ip_address.hpp"

namespace chipweave::solver {
namespace {

// What orders a domain among its siblings.
struct Group {
  std::size_t pods = 0;
  std::size_t first = 0;  // the lowest index of its pods
};

// By domain number.
std::vector<Group> groups_of(const RankDomains& domains) {
  std::vector<Group> out(domains.names.size());
  for (std::size_t pod = 0; pod < domains.of_pod.size(); ++pod) {
    for (const std::uint32_t domain : domains.of_pod[pod]) {
      if (out[domain].pods++ == 0) out[domain].first = pod;
    }
  }
  return out;
}

// By pod, the lowest index of the pods on its host.
std::vector<std::size_t> first_on_host(const std::vector<RoutePod>& pods) {
  std::unordered_map<std::string_view, std::size_t> seen;
  std::vector<std::size_t> out;
  out.reserve(pods.size());
  for (std::size_t pod = 0; pod < pods.size(); ++pod)
    out.push_back(seen.try_emplace(pods[pod].host, pod).first->second);
  return out;
}

std::vector<std::size_t> grouped(std::size_t levels, const RankDomains& domains,
                                 const std::vector<std::size_t>& hosts) {
  const std::vector<Group> groups = groups_of(domains);
  std::vector<std::size_t> order = as_given(hosts.size());
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    for (std::size_t level = 0; level < levels; ++level) {
      const std::uint32_t x = domains.of_pod[a][level];
      const std::uint32_t y = domains.of_pod[b][level];
      if (x == y) continue;
      if (domains.names[x].empty() || domains.names[y].empty()) return domains.names[y].empty();
      if (groups[x].pods != groups[y].pods) return groups[x].pods > groups[y].pods;
      return groups[x].first < groups[y].first;
    }
    return hosts[a] < hosts[b];
  });
  return order;
}

}  // namespace

RoutePlan route_plan(std::size_t levels, const std::vector<RoutePod>& pods) {
  RoutePlan out;
  std::vector<RankPath> paths;
  paths.reserve(pods.size());
  for (std::size_t pod = 0; pod < pods.size(); ++pod) {
    paths.push_back(pods[pod].path);
    const bool known = levels > 0 && !paths[pod].empty() && !paths[pod].front().empty();
    if (!known) out.unknown.push_back(pod);
  }
  const std::vector<std::size_t> hosts = first_on_host(pods);
  out.before = ring_crossings(levels, paths, as_given(pods.size()));
  const bool one_host =
      std::all_of(hosts.begin(), hosts.end(), [](std::size_t first) { return first == 0; });
  if (one_host) {
    out.state = RouteState::one_host;
  } else if (out.unknown.size() == pods.size()) {
    out.state = RouteState::no_topology;
  }
  out.order = out.state == RouteState::planned ? grouped(levels, rank_domains(levels, paths), hosts)
                                               : as_given(pods.size());
  out.crossings = ring_crossings(levels, paths, out.order);
  out.rank_of.resize(out.order.size());
  for (std::size_t rank = 0; rank < out.order.size(); ++rank) out.rank_of[out.order[rank]] = rank;
  return out;
}

std::string leaf_name(std::size_t levels, const RankPath& path) {
  const bool whole = levels > 0 && path.size() >= levels &&
                     std::find(path.begin(), path.end(), std::string()) == path.end();
  if (!whole) return "";
  if (levels == 1 || parse_ip(path[levels - 1])) return path[levels - 1];
  std::string out;
  for (std::size_t level = 0; level < levels; ++level) out += (level == 0 ? "" : "/") + path[level];
  return out;
}

}  // namespace chipweave::solver
