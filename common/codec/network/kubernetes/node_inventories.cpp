// NodeInventories (`kubectl get nodeinventories -o json`): the switches that chipweave's agents
// see by LLDP. Nodes whose ports lead to the same leaves are one unit; the interconnect of the
// accelerators (NVLink clique, super pod) is the second hierarchy.
#include <map>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/network/formats.hpp"
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

// The index of each NIC on its node, which is its rail.
std::map<std::string, std::size_t> nic_places(JsonValue topology) {
  std::map<std::string, std::size_t> out;
  std::size_t i = 0;
  for (const JsonValue nic : list_at(topology, "nics")) {
    if (i == limits::kMaxNetworkRails) break;
    out.emplace(text_or_empty(nic["name"]), i++);
  }
  return out;
}

// Ports whose neighbour announces a name or at least an address.
Result<void> read_neighbours(JsonValue list, const std::map<std::string, std::size_t>& nics,
                             LeafFabric& fabric, InventoryHost& host) {
  for (const JsonValue neighbour : list) {
    std::string leaf = text_or_empty(neighbour["system"]);
    if (leaf.empty()) leaf = text_or_empty(neighbour["address"]);
    if (leaf.empty()) continue;
    const auto [at, is_new] = fabric.leaf_index.emplace(leaf, fabric.leaves.size());
    if (is_new) fabric.leaves.push_back(leaf);
    host.leaves.insert(at->second);
    const auto place = nics.find(text_or_empty(neighbour["nic"]));
    const std::size_t rail = place == nics.end() ? host.rails.size() : place->second;
    if (rail >= host.rails.size()) host.rails.resize(rail + 1);
    host.rails[rail] = std::move(leaf);
    if (host.rails.size() > limits::kMaxNetworkRails) {
      return too_many(limits::kMaxNetworkRails, "ports with a neighbour").in(host.where);
    }
  }
  if (fabric.leaves.size() > limits::kMaxNetworkDomains) {
    return too_many(limits::kMaxNetworkDomains, "switches; split the file");
  }
  return {};
}

Result<InventoryHost> read_inventory(const NetworkObject& object, LeafFabric& fabric) {
  InventoryHost out;
  out.where = object_label(object);
  out.name = object_name(object);
  if (out.name.empty()) return network_error(out.where + " has no name");
  const JsonValue status = object.value["status"];
  const JsonValue neighbours = status["neighbours"];
  if (neighbours && !neighbours.is_array()) {
    return network_error(out.where + ": status.neighbours must be a list");
  }
  const JsonValue topology = status["topology"];
  if (auto read = read_neighbours(neighbours, nic_places(topology), fabric, out); !read) {
    return std::move(read).error();
  }
  const JsonValue clique = status["facts"]["fabric.clique"];
  out.interconnect = text_or_empty(clique ? clique : topology["super_pod"]["id"]);
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
