// Pod documents that people and scripts post: nlohmann, because the whole document is kept and
// changed.
#include <nlohmann/json.hpp>

#include "common/codec/json/depth.hpp"
#include "common/codec/kube/pod/pod.hpp"

namespace chipweave::codec {
namespace {

using Json = nlohmann::json;

Error wrong_type(const std::string& where, const char* wanted) {
  return make_error(Errc::invalid_argument, where + " must be " + wanted);
}

// A member that may be absent or null; anything else must be of the wanted kind.
const Json* member(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

Result<void> read_string(const Json& object, const char* key, const std::string& where,
                         std::string& to) {
  const Json* value = member(object, key);
  if (value == nullptr) return {};
  if (!value->is_string()) return wrong_type(where + "." + key, "a string");
  to = value->get<std::string>();
  return {};
}

// numbers: quantities may be written without quotes ("nvidia.com/gpu": 1).
Result<void> read_map(const Json& object, const char* key, const std::string& where, bool numbers,
                      StringMap& to) {
  const Json* map = member(object, key);
  if (map == nullptr) return {};
  const std::string here = where + "." + key;
  if (!map->is_object()) return wrong_type(here, "an object");
  for (const auto& [name, value] : map->items()) {
    if (value.is_string()) {
      to[name] = value.get<std::string>();
    } else if (numbers && value.is_number()) {
      to[name] = value.dump();
    } else {
      std::string key_path = here;
      key_path.append("['").append(name).append("']");
      return wrong_type(key_path, "a string");
    }
  }
  return {};
}

Result<KubeContainer> read_container(const Json& json, const std::string& where) {
  if (!json.is_object()) return wrong_type(where, "an object");
  KubeContainer c;
  std::string restart_policy;
  if (auto r = read_string(json, "name", where, c.name); !r) return std::move(r).error();
  if (auto r = read_string(json, "restartPolicy", where, restart_policy); !r)
    return std::move(r).error();
  c.sidecar = restart_policy == "Always";
  if (const Json* resources = member(json, "resources")) {
    const std::string here = where + ".resources";
    if (!resources->is_object()) return wrong_type(here, "an object");
    if (auto r = read_map(*resources, "requests", here, true, c.requests); !r)
      return std::move(r).error();
    if (auto r = read_map(*resources, "limits", here, true, c.limits); !r)
      return std::move(r).error();
  }
  return c;
}

Result<void> read_containers(const Json& spec, const char* key, std::vector<KubeContainer>& to) {
  const Json* list = member(spec, key);
  if (list == nullptr) return {};
  const std::string where = std::string("spec.") + key;
  if (!list->is_array()) return wrong_type(where, "a list");
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto c = read_container((*list)[i], where + "[" + std::to_string(i) + "]");
    if (!c) return std::move(c).error();
    to.push_back(std::move(*c));
  }
  return {};
}

Result<void> read_metadata(const Json& root, KubePod& pod) {
  const Json* metadata = member(root, "metadata");
  if (metadata == nullptr) return make_error(Errc::invalid_argument, "metadata is missing");
  if (!metadata->is_object()) return wrong_type("metadata", "an object");
  for (const auto& [key, to] :
       {std::pair{"name", &pod.name}, {"namespace", &pod.ns}, {"uid", &pod.uid}}) {
    if (auto r = read_string(*metadata, key, "metadata", *to); !r) return r;
  }
  if (auto r = read_map(*metadata, "labels", "metadata", false, pod.labels); !r) return r;
  return read_map(*metadata, "annotations", "metadata", false, pod.annotations);
}

Result<void> read_spec(const Json& root, KubePod& pod) {
  if (const Json* spec = member(root, "spec")) {
    if (!spec->is_object()) return wrong_type("spec", "an object");
    if (auto r = read_string(*spec, "nodeName", "spec", pod.node_name); !r) return r;
    if (auto r = read_containers(*spec, "initContainers", pod.init_containers); !r) return r;
    if (auto r = read_containers(*spec, "containers", pod.containers); !r) return r;
  }
  if (const Json* status = member(root, "status")) {
    if (!status->is_object()) return wrong_type("status", "an object");
    return read_string(*status, "phase", "status", pod.phase);
  }
  return {};
}

Result<Json> parse_object(std::string_view json) {
  if (json_too_deep(json)) return make_error(Errc::limit_exceeded, "JSON is nested too deeply");
  try {
    Json root = Json::parse(json);
    if (!root.is_object()) return make_error(Errc::invalid_argument, "a Pod must be a JSON object");
    return root;
  } catch (const Json::exception& e) {
    return make_error(Errc::invalid_argument, std::string("not JSON: ") + e.what());
  }
}

}  // namespace

Result<KubePod> read_pod(std::string_view json) {
  auto root = parse_object(json);
  if (!root) return std::move(root).error();
  std::string kind;
  if (auto r = read_string(*root, "kind", "Pod", kind); !r) return std::move(r).error();
  if (!kind.empty() && kind != "Pod") {
    return make_error(Errc::invalid_argument, "kind is '" + kind + "', only Pod is accepted here");
  }
  KubePod pod;
  if (auto r = read_metadata(*root, pod); !r) return std::move(r).error();
  if (auto r = read_spec(*root, pod); !r) return std::move(r).error();
  return pod;
}

Result<std::string> write_pod(std::string_view json, const std::string& ns, const std::string& uid,
                              const std::string& node,
                              const std::map<std::string, std::string>& annotations) {
  auto root = parse_object(json);
  if (!root) return std::move(root).error();
  try {
    Json& metadata = (*root)["metadata"];
    metadata["namespace"] = ns;
    metadata["uid"] = uid;
    for (const auto& [key, value] : annotations) metadata["annotations"][key] = value;
    if (!node.empty()) (*root)["spec"]["nodeName"] = node;
    return root->dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const Json::exception& e) {
    return make_error(Errc::internal, std::string("pod cannot be written: ") + e.what());
  }
}

}  // namespace chipweave::codec
