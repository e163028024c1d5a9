#include "common/codec/kube/objects/config_map.hpp"

#include "common/base/json_writer.hpp"

namespace chipweave::codec {
std::string config_map_path(const std::string& ns) {
  return "/api/v1/namespaces/" + ns + "/configmaps";
}

std::string write_config_map(const std::string& ns, const std::string& name,
                             const StringMap& labels, const StringMap& data,
                             const StringMap& annotations) {
  JsonWriter w;
  w.begin_object().field("apiVersion", "v1").field("kind", "ConfigMap");
  w.key("metadata").begin_object().field("name", name).field("namespace", ns);
  w.key("labels").string_map(labels);
  if (!annotations.empty()) w.key("annotations").string_map(annotations);
  w.end_object();
  w.key("data").string_map(data);
  w.end_object();
  return w.take();
}

}  // namespace chipweave::codec
