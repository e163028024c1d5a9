#include "common/codec/network/objects.hpp"

#include <algorithm>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/text/json_mend.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/yaml/yaml_tree.hpp"

namespace chipweave::codec {
namespace {

constexpr std::string_view kList = "List";
constexpr std::size_t kMaxObjects = 200000;

// The items of a list, including nested lists. `kind`: from a typed list (NodeList), for items
// without a kind.
Result<void> flatten(const std::shared_ptr<const JsonTree>& tree, JsonValue value,
                     const std::string& where, const std::string& inherited, NetworkObjects& out) {
  std::string kind = value["kind"].string().value_or("");
  const JsonValue items = kind.ends_with(kList) ? list_at(value, "items") : JsonValue();
  if (!items) {
    if (out.size() >= kMaxObjects) {
      return located(too_many(kMaxObjects, "objects"), where);
    }
    if (kind.empty()) kind = inherited;
    out.push_back({where, std::move(kind), value, tree});
    return {};
  }
  const std::string item_kind = kind.substr(0, kind.size() - kList.size());
  std::size_t i = 0;
  for (const JsonValue item : items) {
    const std::string at = where + (where.empty() ? "" : ", ") + list_item("items", i++);
    if (auto done = flatten(tree, item, at, item_kind, out); !done) return done;
  }
  return {};
}

Result<void> add_document(JsonTree tree, const std::string& where, NetworkObjects& out) {
  const auto shared = std::make_shared<const JsonTree>(std::move(tree));
  return flatten(shared, JsonValue(*shared), where, "", out);
}

}  // namespace

Result<NetworkObjects> read_network_objects(std::string_view text) {
  NetworkObjects out;
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  // YAML has comments with #, and not those of JavaScript.
  if (start != std::string_view::npos && text[start] != '#' && begins_as_json(text)) {
    Result<JsonTree> tree =
        parse_json(text, {limits::kMaxNetworkFileBytes, limits::kMaxNetworkValues});
    if (!tree) return std::move(tree).error();
    if (auto done = add_document(*std::move(tree), "", out); !done) return std::move(done).error();
    return out;
  }
  Result<std::vector<YamlDocument>> documents = parse_yaml(text);
  if (!documents) {
    Error error = std::move(documents).error();
    if (error.code == Errc::limit_exceeded) {
      error.message += "; JSON may be " + std::to_string(limits::kMaxNetworkFileBytes >> 20U) +
                       " MiB large (kubectl get … -o json)";
    }
    return error;
  }
  for (YamlDocument& document : *documents) {
    const std::string where = "line " + std::to_string(document.line);
    if (auto done = add_document(std::move(document.tree), where, out); !done) {
      return std::move(done).error();
    }
  }
  return out;
}

JsonValue list_at(JsonValue value, std::string_view key) {
  const JsonValue list = value[key];
  return list.is_array() ? list : JsonValue();
}

std::vector<JsonValue> members_by_name(JsonValue value) {
  std::vector<JsonValue> out;
  if (value.is_object()) out.assign(value.begin(), value.end());
  std::sort(out.begin(), out.end(), [](JsonValue a, JsonValue b) { return a.name() < b.name(); });
  return out;
}

std::string list_item(const char* list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

std::optional<std::string> text_or_integer(JsonValue value) {
  if (!value.is_string() && !value.is_integer()) return std::nullopt;
  return std::string(value.text());
}

std::string object_name(const NetworkObject& object) {
  return text_or_empty(object.value["metadata"]["name"]);
}

std::string object_label(const NetworkObject& object) {
  const std::string name = object_name(object);
  std::string out = object.kind.empty() ? "object" : object.kind;
  if (!name.empty()) out += " " + quoted_excerpt(name);
  return object.where.empty() ? out : out + " (" + object.where + ")";
}

bool has_kind(const NetworkObjects& objects, std::string_view kind) {
  return std::any_of(objects.begin(), objects.end(),
                     [&](const NetworkObject& object) { return object.kind == kind; });
}

JsonValue only_object(const NetworkObjects& objects) {
  return objects.size() == 1 ? objects.front().value : JsonValue();
}

const NetworkObject* find_config_map(const NetworkObjects& objects, const char* key) {
  const auto found = std::find_if(
      objects.begin(), objects.end(),
      [key](const NetworkObject& object) { return object.value["data"][key].is_string(); });
  return found == objects.end() ? nullptr : &*found;
}

Error network_error(std::string message) {
  return make_error(Errc::invalid_argument, std::move(message));
}

Error not_this_format(std::string_view format, std::string_view misses) {
  return network_error("not of the format " + std::string(format) + ": it has no " +
                       std::string(misses));
}

Error too_many(std::size_t max, const std::string& what) {
  return make_error(Errc::limit_exceeded, "more than " + std::to_string(max) + " " + what);
}

Error located(Error error, const std::string& where) {
  return where.empty() ? error : std::move(error).in(where);
}

}  // namespace chipweave::codec
