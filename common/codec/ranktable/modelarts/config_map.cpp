#include "common/codec/ranktable/modelarts/config_map.hpp"

#include "common/base/json_writer.hpp"

namespace chipweave::codec {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

// A JSON string is a YAML scalar too.
void append_entry(std::string& out, std::string_view indent, std::string_view key,
                  std::string_view value) {
  out += indent;
  append_json_string(out, key);
  out += ": ";
  append_json_string(out, value);
  out += "\n";
}

std::string yaml_of(const ConfigMap& map) {
  std::string out = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n";
  append_entry(out, "  ", "name", map.name);
  if (!map.ns.empty()) append_entry(out, "  ", "namespace", map.ns);
  if (!map.labels.empty()) out += "  labels:\n";
  for (const auto& [key, value] : map.labels) append_entry(out, "    ", key, value);
  out += "data:\n";
  for (const auto& [key, value] : map.data) append_entry(out, "  ", key, value);
  return out;
}

std::string json_of(const ConfigMap& map) {
  JsonWriter out;
  out.begin_object().field("apiVersion", "v1").field("kind", "ConfigMap");
  out.key("metadata").begin_object().field("name", map.name);
  if (!map.ns.empty()) out.field("namespace", map.ns);
  if (!map.labels.empty()) out.key("labels").string_map(map.labels);
  out.end_object();
  out.key("data").string_map(map.data);
  return out.end_object().take() + "\n";
}

}  // namespace

std::size_t ConfigMap::bytes() const {
  std::size_t out = 0;
  for (const auto& [key, value] : data) out += key.size() + value.size();
  return out;
}

std::string write_config_map(const ConfigMap& map, ManifestForm form) {
  return form == ManifestForm::yaml ? yaml_of(map) : json_of(map);
}

}  // namespace chipweave::codec
