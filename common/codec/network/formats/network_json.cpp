// Chipweave's own JSON, which `chipweave network import -o json` prints.
#include <algorithm>
#include <array>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/network/formats.hpp"
#include "common/codec/network/table/table_builder.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kMaxWarnings = 1000;

// Keys that only `chipweave plan` reads are accepted, so that its networks can be shown and
// exported.
constexpr std::array<const char*, 7> kStateKeys = {
    "free", "free_chips", "loaded_chips", "down_nics", "machine", "max_pods", "healthy"};

domain::NetworkNode read_node(const JsonObject& object) {
  object.require("path");
  return {object.require_text("name").value_or(""), object.texts("path", limits::kMaxNetworkRails),
          object.texts("rails", limits::kMaxNetworkRails),
          object.texts("accelerator", limits::kMaxNetworkRails)};
}

Result<domain::NetworkTable> read_document(JsonValue value, Warnings& warnings) {
  JsonProblems problems;
  const JsonObject object(
      value, {"levels", "accelerator_levels", "nodes", "warnings", "level_gbps"}, problems);
  NetworkTableBuilder builder(object.texts("levels", limits::kMaxNetworkLevels),
                              object.texts("accelerator_levels", limits::kMaxNetworkLevels));
  // Sentences may be longer than names.
  const JsonObject sentences = JsonObject::tolerant(value, problems, limits::kMaxNetworkFileBytes);
  std::vector<std::string> stated = sentences.texts("warnings", kMaxWarnings);
  if (problems.any()) return problems.error();
  bool has_state = object.has("level_gbps");
  std::size_t i = 0;
  for (const JsonValue item : object.find("nodes")) {
    if (!builder.ok()) break;
    const JsonObject node(item,
                          {"name", "path", "rails", "accelerator", "free", "free_chips",
                           "loaded_chips", "down_nics", "machine", "max_pods", "healthy"},
                          problems);
    domain::NetworkNode read = read_node(node);
    if (problems.any()) return problems.error();
    builder.add(std::move(read), list_item("nodes", i++));
    has_state = has_state || std::any_of(kStateKeys.begin(), kStateKeys.end(),
                                         [&](const char* key) { return node.has(key); });
  }
  if (has_state) stated.emplace_back("keys that only plan reads (free, machine, …) are left out");
  warnings.repeat(std::move(stated));
  return std::move(builder).take();
}

bool looks_like_network_json(const NetworkObjects& objects) {
  const JsonValue value = only_object(objects);
  return value["nodes"].is_array() && value["levels"];
}

Result<domain::NetworkTable> import_network_json(const NetworkObjects& objects,
                                                 const std::vector<std::string>& /*levels*/,
                                                 Warnings& warnings) {
  if (!looks_like_network_json(objects)) {
    return not_this_format(kNetworkJsonFormat.name, "lists \"levels\" and \"nodes\"");
  }
  return read_document(objects.front().value, warnings);
}

}  // namespace

const ObjectFormat kNetworkJsonFormat{"chipweave-json", looks_like_network_json,
                                      import_network_json};

}  // namespace chipweave::codec
