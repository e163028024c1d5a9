#include "cli/route_places.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "common/base/ip_address.hpp"
#include "common/codec/modelarts/tor_groups.hpp"

namespace chipweave::cli {

RoutePlaces places_in(const domain::NetworkTable& network,
                      const std::vector<RouteMachine>& machines) {
  std::unordered_map<std::string_view, const solver::RankPath*> by_name;
  for (const domain::NetworkNode& node : network.nodes) by_name.emplace(node.name, &node.path);
  RoutePlaces out{network.levels, {}};
  for (const RouteMachine& machine : machines) {
    solver::RoutePod pod{machine.host, {}};
    for (const std::string& name : machine.names) {
      const auto found = by_name.find(name);
      if (found == by_name.end()) continue;
      pod.path = *found->second;
      break;
    }
    out.pods.push_back(std::move(pod));
  }
  return out;
}

RoutePlaces places_by_tors(const std::vector<RouteMachine>& machines) {
  // Pods of one machine report different devices of it: the machine has the switches of all.
  std::unordered_map<std::string_view, std::size_t> hosts;
  std::vector<std::vector<std::string>> tors;
  for (const RouteMachine& machine : machines) {
    const auto [at, fresh] = hosts.try_emplace(machine.host, tors.size());
    if (fresh) tors.emplace_back();
    std::vector<std::string>& all = tors[at->second];
    all.insert(all.end(), machine.tors.begin(), machine.tors.end());
  }
  const std::vector<std::string> groups = codec::tor_groups(tors);
  RoutePlaces out{{"tor"}, {}};
  for (const RouteMachine& machine : machines)
    out.pods.push_back({machine.host, {groups[hosts.at(machine.host)]}});
  return out;
}

std::string leaf_name(std::size_t levels, const solver::RankPath& path) {
  const bool whole = levels > 0 && path.size() >= levels &&
                     std::find(path.begin(), path.end(), std::string()) == path.end();
  if (!whole) return "";
  if (levels == 1 || parse_ip(path[levels - 1])) return path[levels - 1];
  std::string out;
  for (std::size_t level = 0; level < levels; ++level) out += (level == 0 ? "" : "/") + path[level];
  return out;
}

}  // namespace chipweave::cli
