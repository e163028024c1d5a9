// NetworkObjects — the objects of a JSON or YAML text: documents, and the items of Kubernetes
// lists, each with its place in the file. Internal to common/codec (it shows nlohmann/json).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {

using Json = nlohmann::json;

// parse_json() as a document that can be taken apart.
Result<Json> parse_strict_json(std::string_view text, JsonLimits most = {});

struct NetworkObject {
  std::string where;  // "line 14", "line 1, items[3]", for messages
  std::string kind;   // of Kubernetes' objects; items of a NodeList are of kind Node
  Json value;
};

using NetworkObjects = std::vector<NetworkObject>;

// Errors: neither JSON nor YAML, over the limits of either.
Result<NetworkObjects> read_network_objects(std::string_view text);

// The value at a path of keys; null if a key is absent or its parent is not an object.
const Json* json_at(const Json& value, std::initializer_list<const char*> keys);
// The list under a key; null if it is absent or not a list.
const Json* list_at(const Json& value, const char* key);
// "blocks[3]", for messages.
std::string list_item(const char* list, std::size_t index);
// A text, or a whole number as text (YAML reads a node name 1101 as a number); nullopt otherwise.
std::optional<std::string> json_word(const Json* value);
// metadata.name, "" if there is none.
std::string object_name(const NetworkObject& object);
// "HyperNode s0 (line 14)".
std::string object_label(const NetworkObject& object);
bool has_kind(const NetworkObjects& objects, std::string_view kind);
// The one object of a format that has no kind; null where there are several.
const Json* only_object(const NetworkObjects& objects);
// The text under data.KEY of the first ConfigMap that has it; null if none does.
const NetworkObject* find_config_map(const NetworkObjects& objects, const char* key);

Error network_error(std::string message);
// Of an importer that was chosen by name and lacks what its format must have.
Error not_this_format(std::string_view format, std::string_view misses);
// "more than 20000 nodes"
Error too_many(std::size_t max, const std::string& what);
// The error with the place in the file, unless that is empty.
Error located(Error error, const std::string& where);

}  // namespace chipweave::codec
