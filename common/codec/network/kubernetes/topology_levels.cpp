#include "common/codec/network/kubernetes/topology_levels.hpp"

#include <map>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr const char* kLayer = "topologyLayer";
constexpr const char* kParent = "parentTopologyLayer";
constexpr const char* kNodeLayer = "NodeTopologyLayer";
constexpr const char* kClusterLayer = "ClusterTopologyLayer";

struct Layer {
  std::string name;
  std::string parent;
  std::vector<std::string> labels;
};

Result<std::vector<Layer>> layers_of(const NetworkObject& topology) {
  const JsonValue spec = topology.value["spec"];
  const JsonValue layers = list_at(spec, "networkTopologySpec");
  if (!layers) {
    return network_error(object_label(topology) + " has no spec.networkTopologySpec" +
                         (spec["hierarchy"]
                              ? "; Koordinator does not read spec.hierarchy, the key of its "
                                "proposal"
                              : ""));
  }
  std::vector<Layer> out;
  for (const JsonValue one : layers) {
    const auto name = text_or_integer(one[kLayer]);
    if (!name) {
      return network_error(object_label(topology) + ": " +
                           list_item("networkTopologySpec", out.size()) + " has no " + kLayer);
    }
    Layer layer{*name, text_or_integer(one[kParent]).value_or(kClusterLayer), {}};
    for (const JsonValue key : list_at(one, "labelKey")) {
      if (auto text = text_or_integer(key)) layer.labels.push_back(*std::move(text));
    }
    out.push_back(std::move(layer));
  }
  return out;
}

// From the cluster down. Levels are one line, so each layer may have one child.
Result<std::vector<LabelLevel>> ordered(const std::vector<Layer>& layers, Warnings& warnings) {
  std::map<std::string, const Layer*> below;
  for (const Layer& layer : layers) {
    const auto [other, fresh] = below.emplace(layer.parent, &layer);
    if (fresh) continue;
    return network_error("layers " + quoted_excerpt(other->second->name) + " and " +
                         quoted_excerpt(layer.name) + " are both directly below " +
                         quoted_excerpt(layer.parent) + "; keep one");
  }
  std::vector<LabelLevel> out;
  std::size_t used = 0;
  for (auto next = below.find(kClusterLayer); next != below.end() && used < layers.size();
       next = below.find(next->second->name)) {
    const Layer& layer = *next->second;
    ++used;
    if (layer.name == kNodeLayer) continue;
    if (layer.labels.empty()) {
      return network_error("layer " + quoted_excerpt(layer.name) + " has no labelKey");
    }
    if (layer.labels.size() > 1) {
      warnings.add("layer " + quoted_excerpt(layer.name) +
                   " has several labels; the first that a node has is used");
    }
    out.push_back({layer.name, layer.labels});
  }
  if (used == layers.size()) return out;
  return network_error(
      "the layers do not lead from the cluster to the node: a parentTopologyLayer names an unknown "
      "layer, or layers form a cycle");
}

// Of a live object, whose levels become those of the fabric.
Result<void> check_levels_of_object(const std::vector<LabelLevel>& levels) {
  if (levels.size() > limits::kMaxNetworkLevels)
    return too_many(limits::kMaxNetworkLevels, "levels");
  std::set<std::string_view> seen;
  for (const LabelLevel& level : levels) {
    if (auto good = check_network_name("level", level.name); !good) return good;
    if (!seen.insert(level.name).second)
      return network_error("duplicate level " + quoted_excerpt(level.name));
    for (const std::string& label : level.labels) {
      if (auto good = check_network_name("label", label); !good) return good;
    }
  }
  return {};
}

}  // namespace

Result<std::vector<LabelLevel>> kueue_levels(const NetworkObject& topology) {
  const JsonValue levels = list_at(topology.value["spec"], "levels");
  if (levels.empty()) {
    return network_error(object_label(topology) + " has no spec.levels");
  }
  std::vector<LabelLevel> out;
  for (const JsonValue level : levels) {
    const auto label = text_or_integer(level["nodeLabel"]);
    if (!label) {
      return network_error(object_label(topology) + ": " + list_item("spec.levels", out.size()) +
                           " has no nodeLabel");
    }
    out.push_back({*label, {*label}});
  }
  return out;
}

Result<std::vector<LabelLevel>> koordinator_levels(const NetworkObject& topology,
                                                   Warnings& warnings) {
  const Result<std::vector<Layer>> layers = layers_of(topology);
  if (!layers) return layers.error();
  Result<std::vector<LabelLevel>> out = ordered(*layers, warnings);
  if (!out) return std::move(out).error().in(object_label(topology));
  return out;
}

Result<std::vector<LabelLevel>> read_topology_levels(std::string_view object) {
  const Result<NetworkObjects> objects = read_network_objects(object);
  if (!objects) return objects.error();
  if (objects->size() != 1) return network_error("expected one object");
  const NetworkObject& topology = objects->front();
  Warnings warnings;
  Result<std::vector<LabelLevel>> out = topology.kind == "ClusterNetworkTopology"
                                            ? koordinator_levels(topology, warnings)
                                            : kueue_levels(topology);
  if (!out) return out;
  if (auto good = check_levels_of_object(*out); !good)
    return std::move(good).error().in(object_label(topology));
  return out;
}

}  // namespace chipweave::codec
