// NetQ: its topology graph (devices and links: hosts on the same leaves are one unit) and its
// list of compute nodes (NVLink domains).
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/network/formats.hpp"
#include "common/codec/network/table/leaf_units.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/text/warnings.hpp"

namespace chipweave::codec {
namespace {

constexpr const char* kName = "netq";

// [{"links": […], "nodes": […]}], null for anything else.
const Json* graph_of(const NetworkObjects& objects) {
  const Json* value = only_object(objects);
  if (value == nullptr || !value->is_array() || value->empty()) return nullptr;
  const Json& first = value->front();
  const bool graph = json_at(first, {"links"}) != nullptr && json_at(first, {"nodes"}) != nullptr;
  return graph ? &first : nullptr;
}

const Json* compute_nodes_of(const NetworkObjects& objects) {
  const Json* value = only_object(objects);
  if (value == nullptr || !value->is_array() || value->empty()) return nullptr;
  return json_at(value->front(), {"DomainUUID"}) != nullptr ? value : nullptr;
}

struct Fabric {
  std::vector<std::string> leaves;
  std::map<std::string, std::size_t> leaf_index;             // by id
  std::map<std::string, std::string> hosts;                  // id → name
  std::map<std::string, std::set<std::size_t>> attachments;  // host id → leaves
};

// Devices stand below tiers; tier 1 are the leaves, what is no switch is a host.
Result<void> read_devices(const Json& tiers, Fabric& out) {
  for (const Json& tier : tiers) {
    const Json* devices = json_at(tier, {"compounded_nodes"});
    if (devices == nullptr || !devices->is_array()) continue;
    for (const Json& device : *devices) {
      const auto id = json_word(json_at(device, {"id"}));
      if (!id) return network_error("a device below \"nodes\" has no id");
      const std::string name = json_word(json_at(device, {"name"})).value_or(*id);
      const bool is_switch = json_word(json_at(device, {"device_type"})) == "switch";
      if (!is_switch) {
        out.hosts.emplace(*id, name);
      } else if (json_word(json_at(device, {"tier"})) == "1") {
        if (out.leaf_index.emplace(*id, out.leaves.size()).second) out.leaves.push_back(name);
      }
    }
  }
  if (out.hosts.size() > limits::kMaxNetworkNodes ||
      out.leaves.size() > limits::kMaxNetworkDomains) {
    return make_error(Errc::limit_exceeded,
                      "more than " + std::to_string(limits::kMaxNetworkNodes) + " hosts or " +
                          std::to_string(limits::kMaxNetworkDomains) + " switches");
  }
  return {};
}

Result<void> read_links(const Json& links, Fabric& out) {
  for (const Json& link : links) {
    std::string a = json_word(json_at(link, {"src"})).value_or("");
    std::string b = json_word(json_at(link, {"target"})).value_or("");
    if (out.hosts.count(b) > 0) std::swap(a, b);
    const auto leaf = out.leaf_index.find(b);
    if (out.hosts.count(a) == 0 || leaf == out.leaf_index.end()) continue;
    std::set<std::size_t>& leaves = out.attachments[a];
    leaves.insert(leaf->second);
    if (leaves.size() > limits::kMaxNetworkRails) {
      return make_error(Errc::limit_exceeded,
                        "host " + quoted_excerpt(out.hosts[a]) + " is on more than " +
                            std::to_string(limits::kMaxNetworkRails) + " leaves");
    }
  }
  return {};
}

Result<ImportedNetwork> import_graph(const Json& graph) {
  Fabric fabric;
  if (auto done = read_devices(graph["nodes"], fabric); !done) return std::move(done).error();
  if (auto done = read_links(graph["links"], fabric); !done) return std::move(done).error();
  std::vector<LeafSet> sets;
  for (const auto& [unused, leaves] : fabric.attachments) {
    sets.emplace_back(leaves.begin(), leaves.end());
  }
  const LeafUnits units(sets);
  Result<NetworkTableBuilder> builder = NetworkTableBuilder::make({"unit"});
  if (!builder) return std::move(builder).error();
  std::size_t outside = 0;
  for (const auto& [id, name] : fabric.hosts) {
    const auto leaves = fabric.attachments.find(id);
    std::optional<LeafSet> unit;
    if (leaves != fabric.attachments.end()) {
      unit = units.of({leaves->second.begin(), leaves->second.end()});
    }
    if (!unit) ++outside;
    domain::NetworkNode node{name, {unit ? unit_name(*unit, fabric.leaves) : ""}, {}, {}};
    if (auto added = builder->add(std::move(node), ""); !added) return std::move(added).error();
  }
  Warnings warnings;
  if (outside > 0) warnings.add(std::to_string(outside) + " hosts are on no unit's leaves");
  return ImportedNetwork{std::move(*builder).take(), kName, std::move(warnings).list()};
}

Result<ImportedNetwork> import_compute_nodes(const Json& list) {
  Result<NetworkTableBuilder> builder = NetworkTableBuilder::make({}, {"domain"});
  if (!builder) return std::move(builder).error();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = "[" + std::to_string(i) + "]";
    const std::string name = json_word(json_at(list[i], {"Name"})).value_or("");
    const std::string domain = json_word(json_at(list[i], {"DomainUUID"})).value_or("");
    if (auto added = builder->add({name, {}, {}, {domain}}, where); !added) {
      return std::move(added).error();
    }
  }
  return ImportedNetwork{std::move(*builder).take(),
                         kName,
                         {"the file says NVLink domains only, so there are no levels"}};
}

}  // namespace

bool looks_like_netq(const NetworkObjects& objects) {
  return graph_of(objects) != nullptr || compute_nodes_of(objects) != nullptr;
}

Result<ImportedNetwork> import_netq(const NetworkObjects& objects,
                                    const NetworkImportOptions& /*options*/) {
  if (const Json* graph = graph_of(objects)) return import_graph(*graph);
  if (const Json* nodes = compute_nodes_of(objects)) return import_compute_nodes(*nodes);
  return not_this_format(kName, "topology graph and no compute nodes");
}

}  // namespace chipweave::codec
