#include "common/codec/kube/objects/merge_patch.hpp"

#include <string_view>

#include "common/base/json_writer.hpp"
#include "common/codec/kube/objects/config_map.hpp"

namespace chipweave::codec {
namespace {

void append_changes(JsonWriter& w, std::string_view name, const StringChanges& changes) {
  if (changes.empty()) return;
  w.key(name).begin_object();
  for (const auto& [key, value] : changes) {
    value ? w.field(key, *value) : w.key(key).raw("null");
  }
  w.end_object();
}

}  // namespace

std::string write_merge_patch(const ObjectVersion& of, const ObjectChanges& changes) {
  JsonWriter w;
  w.begin_object().key("metadata").begin_object();
  w.field("uid", of.uid).field("resourceVersion", of.resource_version);
  append_changes(w, "labels", changes.labels);
  append_changes(w, "annotations", changes.annotations);
  append_owners(w, changes.owners);
  w.end_object();
  append_changes(w, "data", changes.data);
  w.end_object();
  return w.take();
}

std::string write_delete_options(const ObjectVersion& of) {
  JsonWriter w;
  w.begin_object().field("apiVersion", "v1").field("kind", "DeleteOptions");
  w.key("preconditions").begin_object();
  w.field("uid", of.uid).field("resourceVersion", of.resource_version);
  w.end_object().end_object();
  return w.take();
}

}  // namespace chipweave::codec
