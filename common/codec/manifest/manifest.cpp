#include "common/codec/manifest/manifest.hpp"

#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/manifest/expansion.hpp"
#include "common/codec/yaml/yaml_tree.hpp"

namespace chipweave::codec {
namespace {

void expand_value(JsonValue value, const std::string& where, int depth, Expansion& out,
                  Shape& shape);

void expand_list(JsonValue list, const std::string& where, int depth, Expansion& out,
                 Shape& shape) {
  if (depth > 0) return shape.problem(where, "is a List inside a List");
  std::size_t i = 0;
  for (const JsonValue item : shape.array(list, "items", where)) {
    if (!shape.sound()) return;
    const std::string inside = (where.empty() ? "" : where + ".") + "items[" + std::to_string(i++);
    expand_value(item, inside + "]", depth + 1, out, shape);
  }
}

void expand_value(JsonValue value, const std::string& where, int depth, Expansion& out,
                  Shape& shape) {
  if (!value.is_object())
    return shape.problem(where, "not a Kubernetes object: " + expected("a map", value));
  ManifestObject object;
  object.body = value;
  object.api_version = shape.text(value, "apiVersion", where);
  object.kind = shape.text(value, "kind", where);
  if (object.api_version.empty()) shape.problem("apiVersion", "is missing");
  if (object.kind.empty()) shape.problem("kind", "is missing");
  if (!shape.sound()) return;
  if (object.kind.ends_with("List") && value["items"]) {
    return expand_list(value, where, depth, out, shape);
  }
  const JsonValue metadata = shape.object(value, "metadata", where);
  object.ns = shape.text(metadata, "namespace", "metadata");
  if (object.ns.empty()) object.ns = out.options().default_namespace;
  object.name = shape.text(metadata, "name", "metadata");
  if (object.name.empty()) {
    // The API server would append five random characters.
    object.name = shape.text(metadata, "generateName", "metadata");
    if (!object.name.empty()) object.name += "0";
  }
  shape.check_name(object.name, "metadata.name");
  shape.check_namespace(object.ns, "metadata.namespace");
  if (!shape.sound()) return;
  if (!expand_object(object, out, shape)) {
    out.note(object.kind + " " + object.name + " (" + object.api_version +
             ") makes no pods here: skipped");
  }
}

}  // namespace

Result<Manifest> expand_manifest(std::string_view yaml, const ManifestOptions& options) {
  const Result<std::vector<YamlDocument>> documents = parse_yaml(yaml);
  if (!documents) return documents.error();
  Expansion out(options);
  for (const YamlDocument& document : *documents) {
    Shape shape(document.line);
    expand_value(JsonValue(document.tree), "", 0, out, shape);
    if (auto sound = shape.done(); !sound) return std::move(sound).error();
  }
  return std::move(out).take();
}

}  // namespace chipweave::codec
