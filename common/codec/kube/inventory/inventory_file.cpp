#include "common/codec/kube/inventory/inventory_file.hpp"

#include <string>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/topology/import.hpp"
#include "common/codec/topology/topology_json_reader.hpp"

namespace chipweave::codec {
Result<domain::NodeTopology> read_inventory_file(std::string_view text) {
  if (text.size() > limits::kMaxKubeObjectBytes) {
    return make_error(Errc::limit_exceeded,
                      "larger than " + std::to_string(limits::kMaxKubeObjectBytes >> 20U) + " MiB");
  }
  const auto document = parse_json(text);
  if (!document) return document.error();
  JsonValue value(*document);
  if (value["items"]) {
    return make_error(Errc::invalid_argument,
                      "holds a list: write one machine with `kubectl get nodeinventory NODE -o "
                      "json`");
  }
  for (const char* key : {"status", "topology"}) {
    if (const JsonValue inner = value[key]) value = inner;
  }
  if (!value["chips"].is_array()) {
    return make_error(Errc::invalid_argument,
                      "holds no machine: a NodeInventory has one under status.topology");
  }
  auto topology = TopologyReader(ImportOptions{}).read(value);
  const std::string path = value.path(JsonValue(*document));
  if (!topology && !path.empty()) return std::move(topology).error().in(path);
  return topology;
}

}  // namespace chipweave::codec
