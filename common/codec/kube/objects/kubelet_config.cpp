#include "common/codec/kube/objects/kubelet_config.hpp"

#include "common/codec/json/json_value.hpp"
#include "common/codec/yaml/yaml_tree.hpp"

namespace chipweave::codec {

Result<std::string> read_topology_policy(std::string_view text) {
  const auto documents = parse_yaml(text);
  if (!documents) return documents.error();
  if (documents->empty()) return std::string("none");
  const JsonValue root(documents->front().tree);
  if (!root.is_object()) return make_error(Errc::invalid_argument, "expected an object");
  const JsonValue policy = root["topologyManagerPolicy"];
  if (!policy || policy.is_null()) return std::string("none");
  if (!policy.is_string())
    return make_error(Errc::invalid_argument, "topologyManagerPolicy: expected a string");
  return policy.text().empty() ? std::string("none") : std::string(policy.text());
}

}  // namespace chipweave::codec
