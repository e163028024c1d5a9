#include "common/codec/kube/objects/config_map.hpp"

#include <utility>

#include "common/base/json_writer.hpp"
#include "common/codec/json/stream_reader.hpp"

namespace chipweave::codec {
namespace {

using namespace json_stream;

void read_metadata(od::value value, KubeConfigMap& to) {
  if (!begin_object("metadata", value)) return;
  each_field(value.get_object(), [&](std::string_view key, od::value v) {
    if (is_key(key, "uid")) return read_string("metadata.uid", v, to.version.uid);
    if (is_key(key, "resourceversion"))
      return read_string("metadata.resourceVersion", v, to.version.resource_version);
    if (is_key(key, "labels")) return read_map("metadata.labels", v, false, to.labels);
    check(v, 2);
  });
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
  w.key("labels").string_map(labels);
  w.end_object();
  w.key("data").string_map(data);
  w.end_object();
  return w.take();
}

Result<KubeConfigMap> read_config_map(std::string& body) {
  od::parser parser;
  od::document document;
  KubeConfigMap out;
  auto read = read_document(parser, document, body, [&](std::string_view key, od::value v) {
    if (is_key(key, "metadata")) return read_metadata(v, out);
    if (is_key(key, "data")) return read_map("data", v, false, out.data);
    check(v, 1);
  });
  if (!read) return std::move(read).error();
  if (out.version.uid.empty() || out.version.resource_version.empty()) {
    return make_error(Errc::invalid_argument,
                      "the object has no metadata.uid or no metadata.resourceVersion");
  }
  return out;
}

}  // namespace chipweave::codec
