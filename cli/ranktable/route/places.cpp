#include "cli/ranktable/route/places.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "common/base/ip_address.hpp"
#include "common/codec/ranktable/modelarts/tor_groups.hpp"

namespace chipweave::cli {

namespace {

// The node of each machine; null if the network has none.
std::vector<const domain::NetworkNode*> nodes_of(const domain::NetworkTable& network,
                                                 const std::vector<RouteMachine>& machines) {
  std::unordered_map<std::string_view, const domain::NetworkNode*> by_name;
  for (const domain::NetworkNode& node : network.nodes) by_name.emplace(node.name, &node);
  std::vector<const domain::NetworkNode*> out(machines.size(), nullptr);
  for (std::size_t i = 0; i < machines.size(); ++i) {
    for (const std::string& name : machines[i].names) {
      const auto found = by_name.find(name);
      if (out[i] == nullptr && found != by_name.end()) out[i] = found->second;
    }
  }
  return out;
}

}  // namespace

RoutePlaces places_in(const domain::NetworkTable& network,
                      const std::vector<RouteMachine>& machines) {
  const auto nodes = nodes_of(network, machines);
  RoutePlaces out{network.levels, {}};
  for (std::size_t i = 0; i < machines.size(); ++i)
    out.pods.push_back({machines[i].host, nodes[i] ? nodes[i]->path : solver::RankPath()});
  return out;
}

std::vector<std::string> super_pods_in(const domain::NetworkTable& network,
                                       const std::vector<RouteMachine>& machines) {
  std::vector<std::string> out;
  out.reserve(machines.size());
  for (const domain::NetworkNode* node : nodes_of(network, machines))
    out.push_back(node == nullptr || node->accelerator.empty() ? "" : node->accelerator.front());
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
