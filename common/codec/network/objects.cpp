#include "common/codec/network/objects.hpp"

#include <algorithm>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/yaml/yaml_tree.hpp"

namespace chipweave::codec {
namespace {

constexpr std::string_view kList = "List";
constexpr std::size_t kMaxObjects = 200000;

std::string kind_of(const Json& value) {
  const Json* kind = json_at(value, {"kind"});
  return kind != nullptr && kind->is_string() ? kind->get<std::string>() : std::string();
}

// The items of a list, of lists in it too; `kind` is what a typed list (NodeList) says about items
// that say nothing.
Result<void> flatten(Json value, const std::string& where, const std::string& inherited,
                     NetworkObjects& out) {
  std::string kind = kind_of(value);
  Json* items = nullptr;
  if (value.is_object() && std::string_view(kind).ends_with(kList)) {
    if (const auto found = value.find("items"); found != value.end() && found->is_array()) {
      items = &*found;
    }
  }
  if (items == nullptr) {
    if (out.size() >= kMaxObjects) {
      return located(too_many(kMaxObjects, "objects"), where);
    }
    if (kind.empty()) kind = inherited;
    out.push_back({where, std::move(kind), std::move(value)});
    return {};
  }
  const std::string item_kind = kind.substr(0, kind.size() - kList.size());
  for (std::size_t i = 0; i < items->size(); ++i) {
    const std::string at = where + (where.empty() ? "" : ", ") + "items[" + std::to_string(i) + "]";
    if (auto done = flatten(std::move((*items)[i]), at, item_kind, out); !done) return done;
  }
  return {};
}

}  // namespace

Result<Json> parse_strict_json(std::string_view text, JsonLimits most) {
  const Result<JsonTree> tree = parse_json(text, most);
  if (!tree) return tree.error();
  return Json::parse(tree->document());
}

Result<NetworkObjects> read_network_objects(std::string_view text) {
  NetworkObjects out;
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos && (text[start] == '{' || text[start] == '[')) {
    Result<Json> value =
        parse_strict_json(text, {limits::kMaxNetworkFileBytes, limits::kMaxNetworkValues});
    if (!value) return std::move(value).error();
    if (auto done = flatten(*std::move(value), "", "", out); !done) return std::move(done).error();
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
    if (auto done = flatten(Json::parse(document.tree.document()), where, "", out); !done) {
      return std::move(done).error();
    }
  }
  return out;
}

const Json* json_at(const Json& value, std::initializer_list<const char*> keys) {
  const Json* at = &value;
  for (const char* key : keys) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(key);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

const Json* list_at(const Json& value, const char* key) {
  const Json* list = json_at(value, {key});
  return list != nullptr && list->is_array() ? list : nullptr;
}

std::string list_item(const char* list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

std::optional<std::string> json_word(const Json* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  if (value->is_number_integer()) return value->dump();
  return std::nullopt;
}

std::string object_name(const NetworkObject& object) {
  return json_word(json_at(object.value, {"metadata", "name"})).value_or("");
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

const Json* only_object(const NetworkObjects& objects) {
  return objects.size() == 1 ? &objects.front().value : nullptr;
}

const NetworkObject* find_config_map(const NetworkObjects& objects, const char* key) {
  for (const NetworkObject& object : objects) {
    const Json* text = json_at(object.value, {"data", key});
    if (text != nullptr && text->is_string()) return &object;
  }
  return nullptr;
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
