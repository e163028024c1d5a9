// Formats that are node labels: lists of nodes alone, with a Topology of Kueue or KAI, with a
// ClusterNetworkTopology of Koordinator.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "common/codec/network/formats.hpp"
#include "common/codec/network/kubernetes/labelled_nodes.hpp"
#include "common/codec/network/kubernetes/topology_levels.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr const char* kNoNodes =
    "the file holds no Node objects, so the levels are empty; append the output of kubectl get "
    "nodes -o yaml";

std::string api_version(const NetworkObject& object) {
  return text_or_empty(object.value["apiVersion"]);
}

bool is_topology(const NetworkObject& object) {
  const std::string version = api_version(object);
  return object.kind == "Topology" &&
         (version.starts_with("kueue.x-k8s.io/") || version.starts_with("kai.scheduler/"));
}

bool is_network_topology(const NetworkObject& object) {
  return object.kind == "ClusterNetworkTopology";
}

template <class Is>
std::vector<const NetworkObject*> all_that(const NetworkObjects& objects, Is is) {
  std::vector<const NetworkObject*> out;
  for (const NetworkObject& object : objects) {
    if (is(object)) out.push_back(&object);
  }
  return out;
}

// Of kinds other than Node and the one that is read.
void warn_of_others(const NetworkObjects& objects, std::string_view read, Warnings& warnings) {
  std::set<std::string> others;
  for (const NetworkObject& object : objects) {
    const bool used = object.kind == read || object.kind == "Node" || object.kind.empty();
    if (!used) others.insert(object.kind);
  }
  for (const std::string& kind : others) {
    warnings.add("objects of kind " + quoted_excerpt(kind) + " are ignored");
  }
}

Error several(const std::vector<const NetworkObject*>& objects) {
  return network_error("the file has " + object_label(*objects[0]) + " and " +
                       object_label(*objects[1]) + "; keep one");
}

Result<domain::NetworkTable> from_levels(const std::vector<LabelledNode>& nodes,
                                         const Result<std::vector<LabelLevel>>& levels,
                                         Warnings& warnings) {
  if (!levels) return levels.error();
  if (nodes.empty()) warnings.add(kNoNodes);
  return table_by_labels(nodes, *levels, warnings);
}

// Labels that could be levels: those that group nodes.
std::string candidates(const std::vector<LabelledNode>& nodes) {
  constexpr std::size_t kMaxShown = 5;
  std::map<std::string_view, std::set<std::string_view>> values;
  for (const LabelledNode& node : nodes) {
    for (const auto& [label, value] : node.labels) values[label].insert(value);
  }
  std::string out;
  std::size_t shown = 0;
  for (const auto& [label, different] : values) {
    if (different.size() < 2 || different.size() >= nodes.size() || shown == kMaxShown) continue;
    out += (shown++ == 0 ? "; labels that group nodes here: " : ", ") + quoted_excerpt(label);
  }
  return out;
}

bool looks_like_kueue(const NetworkObjects& objects) {
  return std::any_of(objects.begin(), objects.end(), is_topology);
}

Result<domain::NetworkTable> import_kueue(const NetworkObjects& objects,
                                          const std::vector<std::string>& levels,
                                          Warnings& warnings) {
  const std::vector<const NetworkObject*> topologies = all_that(objects, is_topology);
  if (topologies.empty()) return not_this_format(kKueueFormat.name, "object of kind Topology");
  if (topologies.size() > 1 && levels.empty()) return several(topologies);
  const Result<std::vector<LabelledNode>> nodes = labelled_nodes(objects);
  if (!nodes) return nodes.error();
  warn_of_others(objects, "Topology", warnings);
  return from_levels(
      *nodes, levels.empty() ? kueue_levels(*topologies.front()) : chosen_levels(*nodes, levels),
      warnings);
}

bool looks_like_koordinator(const NetworkObjects& objects) {
  return std::any_of(objects.begin(), objects.end(), is_network_topology);
}

Result<domain::NetworkTable> import_koordinator(const NetworkObjects& objects,
                                                const std::vector<std::string>& levels,
                                                Warnings& warnings) {
  const std::vector<const NetworkObject*> topologies = all_that(objects, is_network_topology);
  if (topologies.empty()) return not_this_format(kKoordinatorFormat.name, "ClusterNetworkTopology");
  if (topologies.size() > 1 && levels.empty()) return several(topologies);
  const Result<std::vector<LabelledNode>> nodes = labelled_nodes(objects);
  if (!nodes) return nodes.error();
  warn_of_others(objects, "ClusterNetworkTopology", warnings);
  if (!levels.empty()) return from_levels(*nodes, chosen_levels(*nodes, levels), warnings);
  return from_levels(*nodes, koordinator_levels(*topologies.front(), warnings), warnings);
}

bool looks_like_node_labels(const NetworkObjects& objects) {
  return std::any_of(objects.begin(), objects.end(), [](const NetworkObject& object) {
    const bool kind_file =
        object.kind == "Cluster" && api_version(object).starts_with("kind.x-k8s.io/");
    return object.kind == "Node" || kind_file || list_at(object.value, "Nodes");
  });
}

Result<domain::NetworkTable> import_node_labels(const NetworkObjects& objects,
                                                const std::vector<std::string>& levels,
                                                Warnings& warnings) {
  const Result<std::vector<LabelledNode>> nodes = labelled_nodes(objects);
  if (!nodes) return nodes.error();
  if (nodes->empty()) return not_this_format(kNodeLabelsFormat.name, "nodes");
  warn_of_others(objects, "Cluster", warnings);
  if (!levels.empty()) return from_levels(*nodes, chosen_levels(*nodes, levels), warnings);
  Result<domain::NetworkTable> out =
      from_levels(*nodes, detected_levels(*nodes, warnings), warnings);
  if (out && out->levels.empty() && out->accelerator_levels.empty()) {
    return network_error("no node has a known topology label; name the labels with --levels" +
                         candidates(*nodes));
  }
  return out;
}

}  // namespace

const ObjectFormat kKueueFormat{"kueue", looks_like_kueue, import_kueue, true};
const ObjectFormat kKoordinatorFormat{"koordinator", looks_like_koordinator, import_koordinator,
                                      true};
const ObjectFormat kNodeLabelsFormat{"node-labels", looks_like_node_labels, import_node_labels,
                                     true};

}  // namespace chipweave::codec
