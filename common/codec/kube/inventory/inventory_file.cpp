#include "common/codec/kube/inventory/inventory_file.hpp"

#include <string>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/topology/import.hpp"
#include "common/codec/topology/topology_json_reader.hpp"

namespace chipweave::codec {
namespace {

const Json* member(const Json& value, const char* key) {
  if (!value.is_object()) return nullptr;
  const auto found = value.find(key);
  return found == value.end() ? nullptr : &*found;
}

}  // namespace

Result<domain::NodeTopology> read_inventory_file(std::string_view text) {
  if (text.size() > limits::kMaxKubeObjectBytes) {
    return make_error(Errc::limit_exceeded,
                      "larger than " + std::to_string(limits::kMaxKubeObjectBytes >> 20U) + " MiB");
  }
  const auto document = parse_strict_json(text);
  if (!document) return document.error();
  if (member(*document, "items") != nullptr) {
    return make_error(Errc::invalid_argument,
                      "holds a list: write one machine with `kubectl get nodeinventory NODE -o "
                      "json`");
  }
  std::string path;
  const Json* value = &*document;
  for (const char* key : {"status", "topology"}) {
    const Json* inner = member(*value, key);
    if (inner == nullptr) continue;
    path += (path.empty() ? "" : ".") + std::string(key);
    value = inner;
  }
  if (member(*value, "chips") == nullptr || !member(*value, "chips")->is_array()) {
    return make_error(Errc::invalid_argument,
                      "holds no machine: a NodeInventory has one under status.topology");
  }
  auto topology = TopologyReader(ImportOptions{}).read(*value);
  if (!topology && !path.empty()) return std::move(topology).error().in(path);
  return topology;
}

}  // namespace chipweave::codec
