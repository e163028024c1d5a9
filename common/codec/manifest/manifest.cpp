#include "common/codec/manifest/manifest.hpp"

#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/manifest/expansion.hpp"
#include "common/codec/yaml/yaml_json.hpp"

namespace chipweave::codec {
namespace {

using nlohmann::json;

void expand_value(const json& value, const std::string& where, int depth, Expansion& out,
                  Shape& shape);

void expand_list(const json& list, const std::string& where, int depth, Expansion& out,
                 Shape& shape) {
  if (depth > 0) return shape.problem(where, "is a List inside a List");
  const json& items = shape.array(list, "items", where);
  for (std::size_t i = 0; i < items.size() && shape.sound(); ++i) {
    const std::string inside = (where.empty() ? "" : where + ".") + "items[" + std::to_string(i);
    expand_value(items[i], inside + "]", depth + 1, out, shape);
  }
}

void expand_value(const json& value, const std::string& where, int depth, Expansion& out,
                  Shape& shape) {
  if (!value.is_object()) return shape.problem(where, "is no Kubernetes object (a map)");
  ManifestObject object;
  object.body = &value;
  object.api_version = shape.text(value, "apiVersion", where);
  object.kind = shape.text(value, "kind", where);
  if (object.api_version.empty()) shape.problem("apiVersion", "is missing");
  if (object.kind.empty()) shape.problem("kind", "is missing");
  if (!shape.sound()) return;
  if (object.kind.ends_with("List") && value.contains("items")) {
    return expand_list(value, where, depth, out, shape);
  }
  const json& metadata = shape.object(value, "metadata", where);
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
  Result<std::vector<YamlDocument>> documents = yaml_to_json(yaml);
  if (!documents) return std::move(documents).error();
  Expansion out(options);
  try {
    for (const YamlDocument& document : *documents) {
      Shape shape(document.line);
      expand_value(document.value, "", 0, out, shape);
      if (auto sound = shape.done(); !sound) return std::move(sound).error();
    }
  } catch (const json::exception& error) {
    // dump() refuses text that is not UTF-8; everything else is checked before it is read.
    return make_error(Errc::invalid_argument,
                      std::string("the file is not clean UTF-8 text: ") + error.what());
  }
  return std::move(out).take();
}

}  // namespace chipweave::codec
