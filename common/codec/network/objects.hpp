// NetworkObjects — the objects of a JSON or YAML text: documents, and the items of Kubernetes
// lists, each with its place in the file. Internal to common/codec.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {

struct NetworkObject {
  std::string where;  // "line 14", "line 1, items[3]", for messages
  std::string kind;   // of Kubernetes' objects; items of a NodeList are of kind Node
  JsonValue value;
  std::shared_ptr<const JsonTree> tree;  // that the value is of
};

using NetworkObjects = std::vector<NetworkObject>;

// Errors: neither JSON nor YAML, over the limits of either.
Result<NetworkObjects> read_network_objects(std::string_view text);

// The list under a key; absent if it is not a list.
JsonValue list_at(JsonValue value, std::string_view key);
// Of an object, in the order of their names; empty of anything else.
std::vector<JsonValue> members_by_name(JsonValue value);
// "blocks[3]", for messages.
std::string list_item(const char* list, std::size_t index);
// A text, or a whole number as text (YAML reads a node name 1101 as a number); nullopt otherwise.
std::optional<std::string> text_or_integer(JsonValue value);
inline std::string text_or_empty(JsonValue value) { return text_or_integer(value).value_or(""); }
// metadata.name, "" if there is none.
std::string object_name(const NetworkObject& object);
// "HyperNode s0 (line 14)".
std::string object_label(const NetworkObject& object);
bool has_kind(const NetworkObjects& objects, std::string_view kind);
// The one object of a format that has no kind; absent where there are several.
JsonValue only_object(const NetworkObjects& objects);
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
