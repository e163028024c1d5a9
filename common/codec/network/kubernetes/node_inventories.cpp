// NodeInventories (`kubectl get nodeinventories -o json`): the switches that chipweave's agents
// see by LLDP. Nodes whose ports lead to the same leaves are one unit; the interconnect of the
// accelerators (NVLink clique, super pod) is the second hierarchy.
#include <map>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/network/formats.hpp"
#include "common/codec/network/kubernetes/node_network.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/text/warnings.hpp"
#include "common/domain/network/leaf_units.hpp"

namespace chipweave::codec {
namespace {

constexpr const char* kKind = "NodeInventory";

struct InventoryHost {
  std::string where;
  std::string name;
  std::vector<std::string> rails;
  std::set<std::size_t> leaves;
  std::string interconnect;  // of its accelerators; "" unknown
};

struct LeafFabric {
  std::vector<std::string> leaves;
  std::map<std::string, std::size_t> leaf_index;
  std::vector<InventoryHost> hosts;
};

Result<InventoryHost> read_inventory(const NetworkObject& object, LeafFabric& fabric) {
  InventoryHost out;
  out.where = object_label(object);
  out.name = object_name(object);
  if (out.name.empty()) return network_error(out.where + " has no name");
  Result<domain::NodeNetwork> network = read_node_network(object.value["status"]);
  if (!network) return std::move(network).error().in(out.where);
  for (const std::string& leaf : network->leaves) {
    const auto [at, is_new] = fabric.leaf_index.emplace(leaf, fabric.leaves.size());
    if (is_new) fabric.leaves.push_back(leaf);
    out.leaves.insert(at->second);
  }
  if (fabric.leaves.size() > limits::kMaxNetworkDomains)
    return too_many(limits::kMaxNetworkDomains, "switches; split the file");
  out.rails = std::move(network->rails);
  out.interconnect = std::move(network->interconnect);
  return out;
}

bool looks_like_node_inventories(const NetworkObjects& objects) { return has_kind(objects, kKind); }

Result<domain::NetworkTable> import_node_inventories(const NetworkObjects& objects,
                                                     const std::vector<std::string>& /*levels*/,
                                                     Warnings& warnings) {
  if (!looks_like_node_inventories(objects))
    return not_this_format(kNodeInventoryFormat.name, "NodeInventory");
  LeafFabric fabric;
  for (const NetworkObject& object : objects) {
    if (object.kind != kKind) continue;
    auto host = read_inventory(object, fabric);
    if (!host) return std::move(host).error();
    fabric.hosts.push_back(std::move(host).value());
  }
  std::vector<domain::LeafSet> sets;
  bool interconnects = false;
  for (const InventoryHost& host : fabric.hosts) {
    if (!host.leaves.empty()) sets.emplace_back(host.leaves.begin(), host.leaves.end());
    interconnects = interconnects || !host.interconnect.empty();
  }
  const domain::LeafUnits units(sets);
  NetworkTableBuilder builder(
      {"leaf"}, interconnects ? std::vector<std::string>{"domain"} : std::vector<std::string>{});
  std::size_t outside = 0;
  for (InventoryHost& host : fabric.hosts) {
    std::string unit;
    if (!host.leaves.empty()) {
      if (const auto of = units.of({host.leaves.begin(), host.leaves.end()})) {
        unit = domain::unit_name(*of, fabric.leaves);
      }
    }
    outside += unit.empty() ? 1 : 0;
    domain::NetworkNode node{host.name, {std::move(unit)}, std::move(host.rails), {}};
    if (!host.interconnect.empty()) node.accelerator = {std::move(host.interconnect)};
    builder.add(std::move(node), host.where);
  }
  if (outside > 0) {
    warnings.add(std::to_string(outside) +
                 " nodes report no switch at their ports (LLDP) or belong to no unit of leaves");
  }
  return std::move(builder).take();
}

}  // namespace

const ObjectFormat kNodeInventoryFormat{"node-inventory", looks_like_node_inventories,
                                        import_node_inventories};

}  // namespace chipweave::codec
