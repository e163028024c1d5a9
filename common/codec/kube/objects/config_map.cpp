#include "common/codec/kube/objects/config_map.hpp"

namespace chipweave::codec {

std::string config_map_path(const std::string& ns) {
  return "/api/v1/namespaces/" + ns + "/configmaps";
}

std::string write_config_map(const std::string& ns, const std::string& name,
                             const StringMap& labels, const StringMap& data,
                             const StringMap& annotations, const std::vector<ObjectOwner>& owners) {
  JsonWriter w;
  w.begin_object().field("apiVersion", "v1").field("kind", "ConfigMap");
  w.key("metadata").begin_object().field("name", name).field("namespace", ns);
  w.key("labels").string_map(labels);
  if (!annotations.empty()) w.key("annotations").string_map(annotations);
  append_owners(w, owners);
  w.end_object();
  w.key("data").string_map(data);
  w.end_object();
  return w.take();
}

void append_owners(JsonWriter& to, const std::vector<ObjectOwner>& owners) {
  if (owners.empty()) return;
  to.key("ownerReferences").begin_array();
  for (const ObjectOwner& owner : owners) {
    to.begin_object().field("apiVersion", owner.api_version).field("kind", owner.kind);
    to.field("name", owner.name).field("uid", owner.uid).end_object();
  }
  to.end_array();
}

}  // namespace chipweave::codec
