#include "cli/plan/node_list.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/plan/kube_objects.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/yaml/yaml_tree.hpp"

namespace chipweave::cli {
namespace {

using codec::JsonTree;
using codec::JsonValue;

constexpr codec::JsonLimits kObjectLimits{limits::kMaxPlanLineBytes, limits::kMaxPlanValues};

// The documents of a JSON or YAML text; none if it is something else, of which the importers tell.
std::vector<JsonTree> documents_of(const std::string& text) {
  std::vector<JsonTree> out;
  if (auto json = codec::parse_json(text, kObjectLimits)) {
    out.push_back(*std::move(json));
    return out;
  }
  if (text.find("kind:") == std::string::npos) return out;
  auto yaml = codec::parse_yaml(text);
  if (!yaml) return out;
  for (codec::YamlDocument& document : *yaml) out.push_back(std::move(document.tree));
  return out;
}

struct ObjectList {
  KubeLists lists;
  std::string others;  // all but pods, as a List
  bool has_pods = false;
};

// Items of a NodeList or PodList lack their kind.
ObjectList objects_of(const std::vector<JsonTree>& documents) {
  ObjectList out;
  JsonWriter others;
  others.begin_object().field("apiVersion", "v1").field("kind", "List").key("items").begin_array();
  const auto add = [&](JsonValue object, std::string_view kind) {
    if (kind == "Pod") {
      out.has_pods = true;
      out.lists.pods += concat(out.lists.pods.empty() ? "" : ",", object.raw());
      return;
    }
    if (kind == "Node") {
      out.lists.nodes += concat(out.lists.nodes.empty() ? "" : ",", object.raw());
    }
    others.begin_object().field("kind", kind);
    for (const JsonValue member : object) {
      if (member.name() != "kind") others.key(member.name()).reformatted(member.raw());
    }
    others.end_object();
  };
  for (const JsonTree& document : documents) {
    const JsonValue root(document);
    std::string_view kind = root["kind"].text();
    if (!root["items"].is_array() || !kind.ends_with("List")) {
      if (root.is_object()) add(root, kind);
      continue;
    }
    kind.remove_suffix(std::string_view("List").size());
    for (const JsonValue item : root["items"]) {
      const std::string_view own = item["kind"].text();
      if (item.is_object()) add(item, own.empty() ? kind : own);
    }
  }
  out.others = others.end_array().end_object().take();
  return out;
}

// A list of labels alone says nothing of readiness.
std::string why_left_out(const KubeObjects::Node& node) {
  if (node.cordoned) return "cordoned";
  return node.states_ready && !node.schedulable ? "not ready" : "";
}

std::string left_out_text(const KubeObjects& objects) {
  constexpr std::size_t kShown = 10;
  std::vector<std::string> names;
  std::size_t count = 0;
  for (const auto& [name, node] : objects.nodes) {
    const std::string why = why_left_out(node);
    if (why.empty() || ++count > kShown) continue;
    names.push_back(name + " (" + why + ")");
  }
  if (count == 0) return "";
  return concat("nodes that take no pods are left out: ", joined(names, ", "),
                count > kShown ? concat(" and ", count - kShown, " more") : "");
}

}  // namespace

Result<codec::PlanNetwork> plan_network_of(const std::string& description,
                                           const codec::NetworkImportOptions& options,
                                           std::optional<std::int64_t> free,
                                           const std::string& resource) {
  const ObjectList list = objects_of(documents_of(description));
  if (list.lists.nodes.empty()) return codec::plan_network(description, options, free);
  const auto objects = kube_objects_of(list.lists, resource);
  if (!objects) return codec::plan_network(description, options, free);
  const bool offer = std::any_of(objects->nodes.begin(), objects->nodes.end(),
                                 [](const auto& node) { return node.second.offered > 0; });
  auto out = codec::plan_network(list.has_pods ? list.others : description, options,
                                 offer ? std::optional<std::int64_t>(0) : free);
  if (!out) return out;
  const auto tree = codec::parse_json(out->json, kObjectLimits);
  if (!tree) return Error(tree.error());
  out->json = codec::with_nodes(JsonValue(*tree), [&](JsonWriter& to, JsonValue node) {
    to.begin_object();
    for (const JsonValue member : node) {
      if (offer && member.name() == "free") continue;
      to.key(member.name()).reformatted(member.raw());
    }
    const auto at = objects->nodes.find(node["name"].text());
    if (at != objects->nodes.end()) {
      if (offer) to.field("free", at->second.free);
      if (!why_left_out(at->second).empty()) to.key("healthy").boolean(false);
    }
    to.end_object();
  });
  if (offer) {
    out->with_free.clear();
    if (free) {
      out->warnings.emplace_back(
          "--free has no effect: the nodes of the file say how many accelerators they offer");
    }
  }
  if (std::string text = left_out_text(*objects); !text.empty()) {
    out->warnings.push_back(std::move(text));
  }
  return out;
}

}  // namespace chipweave::cli
