#include "common/codec/kube/objects/config_map.hpp"

#include "common/base/json_writer.hpp"

namespace chipweave::codec {
namespace {

void append_texts(JsonWriter& w, std::string_view name, const StringMap& texts) {
  w.key(name).begin_object();
  for (const auto& [key, value] : texts) w.field(key, value);
  w.end_object();
}

}  // namespace

std::string config_map_path(const std::string& ns) {
  return "/api/v1/namespaces/" + ns + "/configmaps";
}

std::string write_config_map(const std::string& ns, const std::string& name,
                             const StringMap& labels, const StringMap& data) {
  JsonWriter w;
  w.begin_object().field("apiVersion", "v1").field("kind", "ConfigMap");
  w.key("metadata").begin_object().field("name", name).field("namespace", ns);
  append_texts(w, "labels", labels);
  w.end_object();
  append_texts(w, "data", data);
  w.end_object();
  return w.take();
}

}  // namespace chipweave::codec
