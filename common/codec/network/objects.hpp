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
  std::string kind;   // of a Kubernetes object; items of a NodeList have kind Node
  JsonValue value;
  std::shared_ptr<const JsonTree> tree;  // owns the value
};

using NetworkObjects = std::vector<NetworkObject>;

// Errors: neither JSON nor YAML, over the limits of either.
Result<NetworkObjects> read_network_objects(std::string_view text);

// The list under a key; absent if it is not a list.
JsonValue list_at(JsonValue value, std::string_view key);
// The members of an object in the order of their names; empty for anything else.
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
// The only object, for formats without kinds; absent if there are several.
JsonValue only_object(const NetworkObjects& objects);
// The text under data.KEY of the first ConfigMap that has it; null if none does.
const NetworkObject* find_config_map(const NetworkObjects& objects, const char* key);

Error network_error(std::string message);
// The error of an importer that was chosen by name for a text without the required parts of its
// format.
Error not_this_format(std::string_view format, std::string_view misses);
// "more than 20000 nodes"
Error too_many(std::size_t max, const std::string& what);
// The error with `where` as its place in the file, unless that is empty.
Error located(Error error, const std::string& where);

}  // namespace chipweave::codec
