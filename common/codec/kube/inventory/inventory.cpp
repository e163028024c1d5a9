#include "common/codec/kube/inventory/inventory.hpp"

#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/kube/inventory/inventory_health.hpp"
#include "common/codec/topology/import.hpp"
#include "common/codec/topology/topology_json_reader.hpp"

namespace chipweave::codec {
namespace {

JsonWriter& begin_inventory(JsonWriter& w, const std::string& node) {
  w.begin_object().field("apiVersion", "chipweave.dev/v1alpha1").field("kind", "NodeInventory");
  return w.key("metadata").begin_object().field("name", node);
}

void write_version(JsonWriter& w, const ObjectVersion& of) {
  w.field("uid", of.uid).field("resourceVersion", of.resource_version);
}

void write_owner(JsonWriter& w, const std::string& node, const std::string& node_uid) {
  w.key("ownerReferences").begin_array().begin_object();
  w.field("apiVersion", "v1").field("kind", "Node").field("name", node).field("uid", node_uid);
  w.key("blockOwnerDeletion").boolean(false);
  w.end_object().end_array();
}

std::vector<std::string> read_resources(const JsonObject& status) {
  std::vector<std::string> out;
  status.require("resources");
  const JsonValue list = status.array("resources", std::size_t{limits::kMaxResources});
  if (list.is_array() && list.empty()) {
    status.problem("resources", "must name at least one resource that the chips are counted as");
  }
  for (const JsonValue name : list) {
    if (!name.is_string() || name.text().empty() || name.text().size() > limits::kMaxNameBytes) {
      status.problems().add(
          name, "must be a name of 1 to " + std::to_string(limits::kMaxNameBytes) + " bytes");
      continue;
    }
    out.emplace_back(name.text());
  }
  return out;
}

}  // namespace

std::string write_inventory_object(const std::string& node, const std::string& node_uid) {
  JsonWriter w;
  begin_inventory(w, node);
  if (!node_uid.empty()) write_owner(w, node, node_uid);
  w.end_object().end_object();
  return w.take();
}

std::string write_inventory_owner(const std::string& node, const std::string& node_uid,
                                  const ObjectVersion& of) {
  JsonWriter w;
  w.begin_object().key("metadata").begin_object();
  write_version(w, of);
  write_owner(w, node, node_uid);
  w.end_object().end_object();
  return w.take();
}

std::string write_inventory_status(const NodeInventory& inventory, const ObjectVersion& of) {
  const domain::NodeTopology& t = inventory.topology;
  JsonWriter w;
  write_version(begin_inventory(w, inventory.node), of);
  w.end_object();
  w.key("status").begin_object();
  w.field("bootId", inventory.boot_id).key("sequence").integer(inventory.sequence);
  w.field("machine", inventory.machine).key("resources");
  w.strings(inventory.resources).key("chips").integer(t.chip_count());
  w.key("unhealthy").integer((t.unhealthy() | t.network_unhealthy()).size());
  w.key("topology").raw(export_topology_json(t));
  write_inventory_health(w, inventory);
  w.end_object().end_object();
  return w.take();
}

Result<NodeInventory> read_inventory_status(std::string_view status, const std::string& node) {
  if (status.size() > limits::kMaxKubeObjectBytes) {
    return make_error(
        Errc::limit_exceeded,
        "status: larger than " + std::to_string(limits::kMaxKubeObjectBytes >> 20U) + " MiB");
  }
  auto document = parse_json(status);
  if (!document) return std::move(document).error().in("status");
  JsonProblems problems(JsonValue(*document), "status");
  // Unknown keys of a newer agent must not make the node unusable.
  const JsonObject o = JsonObject::tolerant(JsonValue(*document), problems, limits::kMaxFactBytes);
  if (!o) return problems.error();
  NodeInventory out;
  out.node = node;
  out.boot_id = o.require_text("bootId").value_or("");
  if (o.has("bootId") && (out.boot_id.empty() || out.boot_id.size() > limits::kMaxUidBytes)) {
    o.problem("bootId", "must have 1 to " + std::to_string(limits::kMaxUidBytes) + " bytes");
  }
  out.sequence = o.require_integer("sequence", 1, INT64_MAX).value_or(0);
  out.machine = o.text_or_empty("machine");
  out.resources = read_resources(o);
  const JsonValue topology = o.require("topology");
  if (problems.any()) return problems.error();
  auto read = TopologyReader(ImportOptions{}).read(topology);
  if (!read) return std::move(read).error().in("status.topology");
  out.topology = std::move(read).value();
  return out;
}

}  // namespace chipweave::codec
