// Chipweave's own JSON, which `chipweave network import -o json` prints.
#include <algorithm>
#include <array>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/codec/network/formats.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr const char* kNetworkJsonFormat = "chipweave-json";
constexpr std::size_t kMaxWarnings = 1000;

Result<std::vector<std::string>> read_texts(const Json& value, std::size_t max,
                                            const std::string& where) {
  if (!value.is_array()) return network_error("must be a list of strings").in(where);
  if (value.size() > max) {
    return make_error(Errc::limit_exceeded, "must have at most " + std::to_string(max) +
                                                " elements, got " + std::to_string(value.size()))
        .in(where);
  }
  std::vector<std::string> out;
  for (const Json& one : value) {
    if (!one.is_string()) return network_error("must be a list of strings").in(where);
    out.push_back(one.get<std::string>());
  }
  return out;
}

Result<void> only_keys(const Json& value, const std::vector<std::string_view>& known,
                       const std::string& where) {
  for (const auto& [key, unused] : value.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    return located(network_error(unknown_name("key", key, known)), where);
  }
  return {};
}

// Keys that only `chipweave plan` reads are accepted, so that its networks can be shown and
// exported.
const std::vector<std::string_view> kNodeKeys = {
    "name", "path", "rails", "accelerator", "free", "free_chips", "machine", "max_pods", "healthy"};
constexpr std::array<const char*, 5> kStateKeys = {"free", "free_chips", "machine", "max_pods",
                                                   "healthy"};

Result<domain::NetworkNode> read_node(const Json& value, const std::string& where,
                                      bool& has_state) {
  if (!value.is_object()) return network_error("must be an object").in(where);
  if (auto good = only_keys(value, kNodeKeys, where); !good) return std::move(good).error();
  has_state = has_state || std::any_of(kStateKeys.begin(), kStateKeys.end(),
                                       [&](const char* key) { return value.contains(key); });
  domain::NetworkNode node;
  const Json* name = json_at(value, {"name"});
  if (name == nullptr || !name->is_string()) {
    return network_error("key \"name\" must be a string").in(where);
  }
  node.name = name->get<std::string>();
  struct Part {
    const char* key;
    std::vector<std::string>* into;
    bool required;
  };
  const std::array<Part, 3> parts = {{{"path", &node.path, true},
                                      {"rails", &node.rails, false},
                                      {"accelerator", &node.accelerator, false}}};
  for (const Part& part : parts) {
    const Json* list = json_at(value, {part.key});
    if (list == nullptr && !part.required) continue;
    if (list == nullptr) {
      return network_error("key \"" + std::string(part.key) + "\" is missing").in(where);
    }
    Result<std::vector<std::string>> read =
        read_texts(*list, limits::kMaxNetworkRails, where + "." + part.key);
    if (!read) return std::move(read).error();
    *part.into = *std::move(read);
  }
  return node;
}

Result<std::vector<std::string>> texts_at(const Json& value, const char* key, std::size_t max) {
  const Json* list = json_at(value, {key});
  return list == nullptr ? Result<std::vector<std::string>>(std::vector<std::string>{})
                         : read_texts(*list, max, key);
}

Result<ImportedNetwork> read_document(const Json& value) {
  if (auto good =
          only_keys(value, {"levels", "accelerator_levels", "nodes", "warnings", "level_gbps"}, "");
      !good) {
    return std::move(good).error();
  }
  Result<std::vector<std::string>> levels = texts_at(value, "levels", limits::kMaxNetworkLevels);
  if (!levels) return std::move(levels).error();
  Result<std::vector<std::string>> second =
      texts_at(value, "accelerator_levels", limits::kMaxNetworkLevels);
  if (!second) return std::move(second).error();
  Result<std::vector<std::string>> warnings = texts_at(value, "warnings", kMaxWarnings);
  if (!warnings) return std::move(warnings).error();
  Result<NetworkTableBuilder> builder =
      NetworkTableBuilder::make(*std::move(levels), *std::move(second));
  if (!builder) return std::move(builder).error();
  const Json& nodes = value["nodes"];
  bool has_state = value.contains("level_gbps");
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string where = "nodes[" + std::to_string(i) + "]";
    Result<domain::NetworkNode> node = read_node(nodes[i], where, has_state);
    if (!node) return std::move(node).error();
    if (auto added = builder->add(*std::move(node), where); !added) {
      return std::move(added).error();
    }
  }
  ImportedNetwork out{std::move(*builder).take(), kNetworkJsonFormat, *std::move(warnings)};
  if (has_state)
    out.warnings.emplace_back("keys that only plan reads (free, machine, …) are left out");
  return out;
}

}  // namespace

bool looks_like_network_json(const NetworkObjects& objects) {
  const Json* value = only_object(objects);
  const Json* nodes = value == nullptr ? nullptr : json_at(*value, {"nodes"});
  return nodes != nullptr && nodes->is_array() && json_at(*value, {"levels"}) != nullptr;
}

Result<ImportedNetwork> import_network_json(const NetworkObjects& objects,
                                            const NetworkImportOptions& /*options*/) {
  if (!looks_like_network_json(objects)) {
    return not_this_format(kNetworkJsonFormat, "lists \"levels\" and \"nodes\"");
  }
  return read_document(objects.front().value);
}

}  // namespace chipweave::codec
