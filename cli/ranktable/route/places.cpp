#include "cli/ranktable/route/places.hpp"

#include <string_view>
#include <unordered_map>

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
  std::vector<codec::PodSwitches> pods;
  pods.reserve(machines.size());
  for (const RouteMachine& machine : machines) pods.push_back({machine.host, machine.tors});
  RoutePlaces out{{"tor"}, {}};
  const std::vector<std::string> groups = codec::tor_groups_of_pods(pods);
  for (std::size_t i = 0; i < pods.size(); ++i) out.pods.push_back({machines[i].host, {groups[i]}});
  return out;
}

}  // namespace chipweave::cli
