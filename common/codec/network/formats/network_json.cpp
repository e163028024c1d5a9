// Chipweave's own JSON, which `chipweave network import -o json` prints.
#include <algorithm>
#include <array>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/network/formats.hpp"
#include "common/codec/network/table/table_builder.hpp"

namespace chipweave::codec {
namespace {

constexpr const char* kNetworkJsonFormat = "chipweave-json";
constexpr std::size_t kMaxWarnings = 1000;

// Keys that only `chipweave plan` reads are accepted, so that its networks can be shown and
// exported.
constexpr std::array<const char*, 5> kStateKeys = {"free", "free_chips", "machine", "max_pods",
                                                   "healthy"};

domain::NetworkNode read_node(const JsonObject& object) {
  object.require("path");
  return {object.require_text("name").value_or(""), object.texts("path", limits::kMaxNetworkRails),
          object.texts("rails", limits::kMaxNetworkRails),
          object.texts("accelerator", limits::kMaxNetworkRails)};
}

Result<ImportedNetwork> read_document(JsonValue value) {
  JsonProblems problems;
  const JsonObject object(
      value, {"levels", "accelerator_levels", "nodes", "warnings", "level_gbps"}, problems);
  Result<NetworkTableBuilder> builder =
      NetworkTableBuilder::make(object.texts("levels", limits::kMaxNetworkLevels),
                                object.texts("accelerator_levels", limits::kMaxNetworkLevels));
  // Sentences may be longer than names.
  const JsonObject sentences = JsonObject::tolerant(value, problems, limits::kMaxNetworkFileBytes);
  ImportedNetwork out{{}, kNetworkJsonFormat, sentences.texts("warnings", kMaxWarnings)};
  if (problems.any()) return problems.error();
  if (!builder) return std::move(builder).error();
  bool has_state = object.has("level_gbps");
  std::size_t i = 0;
  for (const JsonValue item : object.find("nodes")) {
    const JsonObject node(item,
                          {"name", "path", "rails", "accelerator", "free", "free_chips", "machine",
                           "max_pods", "healthy"},
                          problems);
    domain::NetworkNode read = read_node(node);
    if (problems.any()) return problems.error();
    if (auto added = builder->add(std::move(read), list_item("nodes", i++)); !added) {
      return std::move(added).error();
    }
    has_state = has_state || std::any_of(kStateKeys.begin(), kStateKeys.end(),
                                         [&](const char* key) { return node.has(key); });
  }
  out.table = std::move(*builder).take();
  if (has_state)
    out.warnings.emplace_back("keys that only plan reads (free, machine, …) are left out");
  return out;
}

}  // namespace

bool looks_like_network_json(const NetworkObjects& objects) {
  const JsonValue value = only_object(objects);
  return value["nodes"].is_array() && value["levels"];
}

Result<ImportedNetwork> import_network_json(const NetworkObjects& objects,
                                            const NetworkImportOptions& /*options*/) {
  if (!looks_like_network_json(objects)) {
    return not_this_format(kNetworkJsonFormat, "lists \"levels\" and \"nodes\"");
  }
  return read_document(objects.front().value);
}

}  // namespace chipweave::codec
