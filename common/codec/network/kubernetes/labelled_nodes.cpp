#include "common/codec/network/kubernetes/labelled_nodes.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/domain/network/label_families.hpp"

namespace chipweave::codec {
namespace {

// kind-control-plane, kind-worker, kind-worker2 …
void add_kind_nodes(const NetworkObject& object, std::vector<LabelledNode>& out) {
  const std::string cluster = text_or_integer(object.value["name"]).value_or("kind");
  std::map<std::string, int> count;
  std::size_t i = 0;
  for (const JsonValue node : list_at(object.value, "nodes")) {
    const std::string role = text_or_integer(node["role"]).value_or("control-plane");
    const int number = ++count[role];
    out.push_back({cluster + "-" + role + (number > 1 ? std::to_string(number) : ""),
                   list_item("nodes", i++),
                   read_labels(node["labels"]),
                   {}});
  }
}

void add_aws_nodes(JsonValue nodes, std::vector<LabelledNode>& out) {
  std::size_t i = 0;
  for (const JsonValue node : nodes) {
    auto name = text_or_integer(node["Name"]);
    out.push_back({name ? *std::move(name) : text_or_empty(node["InstanceId"]),
                   list_item("Nodes", i++),
                   read_labels(node["Topology"]),
                   {}});
  }
}

const std::string* label_value(const LabelledNode& node, std::string_view label) {
  if (const auto found = node.labels.find(label); found != node.labels.end()) {
    return &found->second;
  }
  return label == domain::kHostnameLabel ? &node.name : nullptr;
}

// Also from annotations, where MindCluster's device plugin writes super-pods.
std::string accelerator_of(const LabelledNode& node, std::string_view label) {
  const std::string* value = label_value(node, label);
  if (value == nullptr) {
    const auto found = node.annotations.find(label);
    if (found == node.annotations.end()) return "";
    value = &found->second;
  }
  return domain::accelerator_value(label, *value);
}

// The labels of a family that these nodes have, and the number of nodes with them.
struct FoundLabels {
  std::string_view family;
  std::vector<std::string_view> labels;
  std::size_t nodes = 0;
};

template <class Has>
FoundLabels find_labels(const std::vector<LabelledNode>& nodes, std::string_view name,
                        const std::vector<std::string_view>& labels, const Has& has) {
  FoundLabels out{name, {}, 0};
  for (const std::string_view label : labels) {
    const bool any = std::any_of(nodes.begin(), nodes.end(),
                                 [&](const LabelledNode& node) { return has(node, label); });
    if (any) out.labels.push_back(label);
  }
  for (const LabelledNode& node : nodes) {
    const bool any = std::any_of(out.labels.begin(), out.labels.end(),
                                 [&](std::string_view label) { return has(node, label); });
    if (any) ++out.nodes;
  }
  return out;
}

bool has_label(const LabelledNode& node, std::string_view label) {
  return node.labels.find(label) != node.labels.end();
}

bool has_accelerator(const LabelledNode& node, std::string_view label) {
  return !accelerator_of(node, label).empty();
}

// fabric.topograph.run/tier-N has no fixed depth: the labels in use, coarsest first.
std::vector<std::string_view> tier_labels(const std::vector<LabelledNode>& nodes) {
  std::map<unsigned, std::string_view, std::greater<>> tiers;
  for (const LabelledNode& node : nodes) {
    for (const auto& [label, unused] : node.labels) {
      if (const auto tier = domain::topograph_tier(label)) tiers.emplace(*tier, label);
    }
  }
  std::vector<std::string_view> out;
  out.reserve(tiers.size());
  for (const auto& [unused, label] : tiers) out.push_back(label);
  return out;
}

const FoundLabels* most_nodes(const std::vector<FoundLabels>& all) {
  const FoundLabels* best = nullptr;
  for (const FoundLabels& one : all) {
    if (one.nodes > 0 && (best == nullptr || one.nodes > best->nodes)) best = &one;
  }
  return best;
}

// rest: which labels of the best family are read, and what for.
void warn_of_rest(const std::vector<FoundLabels>& found, const FoundLabels& best,
                  const std::string& rest, Warnings& warnings) {
  for (const FoundLabels& other : found) {
    if (&other == &best || other.nodes == 0) continue;
    warnings.add("nodes also have " + std::string(other.labels.front()) + " (" +
                 std::string(other.family) + "); the " + rest);
  }
}

std::vector<std::string_view> accelerator_labels(const std::vector<LabelledNode>& nodes,
                                                 Warnings& warnings) {
  std::vector<FoundLabels> found;
  for (const domain::LabelFamily& family : domain::accelerator_label_families()) {
    found.push_back(find_labels(nodes, family.name, family.labels, has_accelerator));
  }
  const FoundLabels* best = most_nodes(found);
  if (best == nullptr) return {};
  warn_of_rest(found, *best,
               "accelerators' interconnect is read from " + std::string(best->labels.front()),
               warnings);
  return best->labels;
}

std::string element_of(const LabelledNode& node, const LabelLevel& level) {
  for (const std::string& label : level.labels) {
    if (const std::string* value = label_value(node, label)) return *value;
  }
  return "";
}

}  // namespace

Labels read_labels(JsonValue map) {
  Labels out;
  if (!map.is_object()) return out;
  for (const JsonValue value : map) {
    if (auto text = text_or_integer(value)) out.emplace(value.name(), *std::move(text));
  }
  return out;
}

Result<std::vector<LabelledNode>> labelled_nodes(const NetworkObjects& objects) {
  std::vector<LabelledNode> out;
  for (const NetworkObject& object : objects) {
    if (object.kind == "Node") {
      const JsonValue metadata = object.value["metadata"];
      out.push_back({object_name(object), object.where, read_labels(metadata["labels"]),
                     read_labels(metadata["annotations"])});
      if (out.back().name.empty()) {
        return network_error(object_label(object) + " has no metadata.name");
      }
    } else if (object.kind == "Cluster") {
      add_kind_nodes(object, out);
    } else {
      add_aws_nodes(list_at(object.value, "Nodes"), out);
    }
    if (out.size() > limits::kMaxNetworkNodes) {
      return too_many(limits::kMaxNetworkNodes, "nodes; split the file");
    }
  }
  return out;
}

Result<domain::NetworkTable> table_by_labels(const std::vector<LabelledNode>& nodes,
                                             const std::vector<LabelLevel>& levels,
                                             Warnings& warnings) {
  const std::vector<std::string_view> accelerator = accelerator_labels(nodes, warnings);
  std::vector<std::string> names;
  names.reserve(levels.size());
  for (const LabelLevel& level : levels) names.push_back(level.name);
  NetworkTableBuilder builder(std::move(names), {accelerator.begin(), accelerator.end()});
  std::size_t outside = 0;
  std::string example;
  for (const LabelledNode& node : nodes) {
    domain::NetworkNode made{node.name, {}, {}, {}};
    bool labelled = levels.empty();
    for (const LabelLevel& level : levels) {
      made.path.push_back(element_of(node, level));
      const bool host = level.labels.front() == domain::kHostnameLabel;
      labelled = labelled || (!host && !made.path.back().empty());
    }
    for (const std::string_view label : accelerator) {
      made.accelerator.push_back(accelerator_of(node, label));
    }
    if (!labelled && outside++ == 0) example = node.name;
    builder.add(std::move(made), node.where);
  }
  if (outside > 0) {
    warnings.add(std::to_string(outside) + " of " + std::to_string(nodes.size()) +
                 " nodes have no label of any level and belong to no domain, the first is " +
                 quoted_excerpt(example));
  }
  return std::move(builder).take();
}

Result<std::vector<LabelLevel>> chosen_levels(const std::vector<LabelledNode>& nodes,
                                              const std::vector<std::string>& labels) {
  std::set<std::string_view> known;
  for (const LabelledNode& node : nodes) {
    for (const auto& [label, unused] : node.labels) known.insert(label);
  }
  std::vector<LabelLevel> out;
  for (const std::string& label : labels) {
    if (label != domain::kHostnameLabel && known.count(label) == 0) {
      return network_error("unknown label " + quoted_excerpt(label) +
                           did_you_mean(label, {known.begin(), known.end()}) +
                           "; known: " + quoted_list({known.begin(), known.end()}))
          .in("--levels");
    }
    out.push_back({label, {label}});
  }
  return out;
}

std::vector<LabelLevel> detected_levels(const std::vector<LabelledNode>& nodes,
                                        Warnings& warnings) {
  std::vector<FoundLabels> found;
  found.push_back(find_labels(nodes, domain::kTierFamily, tier_labels(nodes), has_label));
  for (const domain::LabelFamily& family : domain::network_label_families()) {
    found.push_back(find_labels(nodes, family.name, family.labels, has_label));
  }
  const FoundLabels* best = most_nodes(found);
  const FoundLabels zones =
      find_labels(nodes, domain::zone_labels().name, domain::zone_labels().labels, has_label);
  if (best == nullptr && zones.nodes > 0) best = &zones;
  if (best == nullptr) return {};
  const std::string rest = "levels are the labels of " + std::string(best->family);
  warn_of_rest(found, *best, rest + ", choose others with --levels", warnings);
  std::vector<LabelLevel> out;
  for (const std::string_view label : best->labels) {
    out.push_back({std::string(label), {std::string(label)}});
  }
  return out;
}

}  // namespace chipweave::codec
