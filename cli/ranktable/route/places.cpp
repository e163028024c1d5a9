#include "cli/ranktable/route/places.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

#include "common/codec/ranktable/modelarts/tor_groups.hpp"
#include "common/domain/network/host_names.hpp"

namespace chipweave::cli {

namespace {

// The node of each machine; null if the network has none.
std::vector<const domain::NetworkNode*> nodes_of(const domain::NetworkTable& network,
                                                 const std::vector<RouteMachine>& machines,
                                                 std::vector<std::string>& ambiguous) {
  std::vector<std::string_view> nodes;
  for (const domain::NetworkNode& node : network.nodes) nodes.push_back(node.name);
  const domain::HostNames names(nodes);
  std::vector<const domain::NetworkNode*> out(machines.size(), nullptr);
  for (std::size_t i = 0; i < machines.size(); ++i) {
    std::optional<std::size_t> found;
    for (const std::string& name : machines[i].names) {
      if (!found) found = names.exact(name);
    }
    for (const std::string& name : machines[i].names) {
      if (found) break;
      const domain::HostNames::Match match = names.find(name);
      found = match.index;
      if (!match.candidates.empty()) ambiguous.push_back(match.ambiguity(name));
    }
    if (found) out[i] = &network.nodes[*found];
  }
  return out;
}

}  // namespace

RoutePlaces places_in(const domain::NetworkTable& network,
                      const std::vector<RouteMachine>& machines) {
  RoutePlaces out{network.levels, {}, {}};
  const auto nodes = nodes_of(network, machines, out.ambiguous);
  for (std::size_t i = 0; i < machines.size(); ++i)
    out.pods.push_back({machines[i].host, nodes[i] ? nodes[i]->path : solver::RankPath()});
  return out;
}

std::vector<std::string> super_pods_in(const domain::NetworkTable& network,
                                       const std::vector<RouteMachine>& machines) {
  std::vector<std::string> out;
  out.reserve(machines.size());
  std::vector<std::string> ambiguous;  // places_in() tells
  for (const domain::NetworkNode* node : nodes_of(network, machines, ambiguous))
    out.push_back(node == nullptr || node->accelerator.empty() ? "" : node->accelerator.front());
  return out;
}

RoutePlaces places_by_tors(const std::vector<RouteMachine>& machines) {
  std::vector<codec::PodSwitches> pods;
  pods.reserve(machines.size());
  for (const RouteMachine& machine : machines) pods.push_back({machine.host, machine.tors});
  RoutePlaces out{{"tor"}, {}, {}};
  const std::vector<std::string> groups = codec::tor_groups_of_pods(pods);
  for (std::size_t i = 0; i < pods.size(); ++i) out.pods.push_back({machines[i].host, {groups[i]}});
  return out;
}

}  // namespace chipweave::cli
