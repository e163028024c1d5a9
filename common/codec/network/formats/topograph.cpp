// topograph: the answers of its graph engine, and the model files of its simulation.
#include <algorithm>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/network/formats.hpp"
#include "common/codec/network/kubernetes/labelled_nodes.hpp"
#include "common/codec/network/slurm/hostlist.hpp"
#include "common/codec/network/table/switch_tree.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr const char* kGraph = "topograph";
constexpr const char* kModel = "topograph-model";

const Json* instances_of(const NetworkObjects& objects) {
  const Json* value = only_object(objects);
  return value == nullptr ? nullptr : list_at(*value, "instances");
}

struct Instance {
  LabelledNode node;
  std::vector<std::string> path;  // coarsest first
};

Result<Instance> read_instance(const Json& value, const std::string& where) {
  Instance out;
  const auto id = json_word(json_at(value, {"id"}));
  if (!id) return network_error("key \"id\" is missing").in(where);
  out.node.name = *id;
  out.node.where = where;
  if (const Json* layers = list_at(value, "network_layers")) {
    for (const Json& layer : *layers) {
      const auto word = json_word(&layer);
      if (!word) return network_error("network_layers must be a list of names").in(where);
      out.path.push_back(*word);
    }
  }
  std::reverse(out.path.begin(), out.path.end());
  const Json* labels = json_at(value, {"labels"});
  if (labels != nullptr && labels->is_object()) {
    for (const auto& [key, label] : labels->items()) {
      if (const auto word = json_word(&label)) out.node.labels.emplace(key, *word);
    }
  }
  return out;
}

// A switch that only a block names is a leaf.
Result<void> declare_leaf(SwitchTree& tree, const Json* switches, const std::string& name,
                          const std::string& where) {
  if (switches != nullptr && switches->contains(name)) return {};
  return tree.declare(name, where);
}

struct ModelBlock {
  std::string leaf;
  std::string where;
  std::vector<std::string> nodes;
  std::vector<std::string> accelerator;  // domain, sub-domain; "" if there is none
};

// The value of the annotation (or label) that ends in /domain or /sub-domain.
std::string annotation(const Json& block, std::string_view end) {
  for (const char* key : {"annotations", "labels"}) {
    const Json* all = json_at(block, {key});
    if (all == nullptr || !all->is_object()) continue;
    for (const auto& [name, value] : all->items()) {
      if (std::string_view(name).ends_with(end)) return json_word(&value).value_or("");
    }
  }
  return "";
}

Result<ModelBlock> read_block(const Json& value, const std::string& where) {
  ModelBlock out;
  out.where = where;
  const auto leaf = json_word(json_at(value, {"switch"}));
  if (!leaf) return network_error("key \"switch\" is missing").in(where);
  out.leaf = *leaf;
  if (const Json* nodes = list_at(value, "nodes")) {
    for (const Json& one : *nodes) {
      const auto list = json_word(&one);
      if (!list) return network_error("nodes must be a list of names").in(where);
      Result<std::vector<std::string>> names = expand_hostlist(*list);
      if (!names) return std::move(names).error().in(where);
      out.nodes.insert(out.nodes.end(), names->begin(), names->end());
      if (out.nodes.size() > limits::kMaxNetworkNodes)
        return too_many(limits::kMaxNetworkNodes, "nodes; split the file").in(where);
    }
  }
  out.accelerator = {annotation(value, "/domain"), annotation(value, "/sub-domain")};
  return out;
}

Result<std::vector<ModelBlock>> read_blocks(const Json& list) {
  std::vector<ModelBlock> out;
  std::size_t nodes = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Result<ModelBlock> block = read_block(list[i], list_item("blocks", i));
    if (!block) return std::move(block).error();
    nodes += block->nodes.size();
    if (nodes > limits::kMaxNetworkNodes)
      return too_many(limits::kMaxNetworkNodes, "nodes; split the file").in(block->where);
    out.push_back(*std::move(block));
  }
  return out;
}

Result<void> add_switches(SwitchTree& tree, const Json& switches) {
  for (const auto& [name, one] : switches.items()) {
    const std::string where = "switches." + name;
    if (auto done = tree.declare(name, where); !done) return done;
    const Json* below = list_at(one, "switches");
    if (below == nullptr) continue;
    for (const Json& child : *below) {
      const auto word = json_word(&child);
      if (!word) return network_error("switches must be a list of names").in(where);
      if (auto done = tree.connect(name, *word, where); !done) return done;
    }
  }
  return {};
}

// How many of (domain, sub-domain) the blocks have.
std::vector<std::string> accelerator_levels(const std::vector<ModelBlock>& blocks) {
  std::vector<std::string> out;
  for (const auto& [index, name] : {std::pair(0U, "domain"), std::pair(1U, "sub-domain")}) {
    const bool any = std::any_of(blocks.begin(), blocks.end(), [&, at = index](const auto& block) {
      return !block.accelerator[at].empty();
    });
    if (any && out.size() == index) out.emplace_back(name);
  }
  return out;
}

}  // namespace

bool looks_like_topograph_graph(const NetworkObjects& objects) {
  const Json* list = instances_of(objects);
  return list != nullptr &&
         (list->empty() || json_at(list->front(), {"network_layers"}) != nullptr);
}

Result<ImportedNetwork> import_topograph_graph(const NetworkObjects& objects,
                                               const NetworkImportOptions& /*options*/) {
  const Json* list = instances_of(objects);
  if (list == nullptr) return not_this_format(kGraph, "list instances");
  std::vector<LabelledNode> labelled;
  std::vector<std::vector<std::string>> paths;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < list->size(); ++i) {
    Result<Instance> one = read_instance((*list)[i], list_item("instances", i));
    if (!one) return std::move(one).error();
    depth = std::max(depth, one->path.size());
    paths.push_back(std::move(one->path));
    labelled.push_back(std::move(one->node));
  }
  Warnings warnings;
  Result<domain::NetworkTable> labels = table_by_labels(labelled, {}, warnings);
  if (!labels) return std::move(labels).error();
  Result<NetworkTableBuilder> builder =
      NetworkTableBuilder::make(switch_levels(depth), labels->accelerator_levels);
  if (!builder) return std::move(builder).error();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    domain::NetworkNode& node = labels->nodes[i];
    node.path = std::move(paths[i]);
    // A node with fewer layers is attached higher up; one with none is outside.
    const std::string last = node.path.empty() ? "" : node.path.back();
    node.path.resize(depth, last);
    if (auto added = builder->add(std::move(node), labelled[i].where); !added) {
      return std::move(added).error();
    }
  }
  return ImportedNetwork{std::move(*builder).take(), kGraph, std::move(warnings).list()};
}

bool looks_like_topograph_model(const NetworkObjects& objects) {
  const Json* value = only_object(objects);
  const Json* blocks = value == nullptr ? nullptr : list_at(*value, "blocks");
  return blocks != nullptr && !blocks->empty() && json_at(blocks->front(), {"switch"}) != nullptr;
}

Result<ImportedNetwork> import_topograph_model(const NetworkObjects& objects,
                                               const NetworkImportOptions& /*options*/) {
  const Json* value = only_object(objects);
  const Json* list = value == nullptr ? nullptr : list_at(*value, "blocks");
  if (list == nullptr) return not_this_format(kModel, "list blocks");
  const Json* switches = json_at(*value, {"switches"});
  if (switches != nullptr && !switches->is_object()) {
    return network_error("switches must be a map of names to what is below them");
  }
  SwitchTree tree;
  if (switches != nullptr) {
    if (auto done = add_switches(tree, *switches); !done) return std::move(done).error();
  }
  Result<std::vector<ModelBlock>> blocks = read_blocks(*list);
  if (!blocks) return std::move(blocks).error();
  const std::vector<std::string> levels = accelerator_levels(*blocks);
  for (ModelBlock& block : *blocks) {
    if (auto done = declare_leaf(tree, switches, block.leaf, block.where); !done) {
      return std::move(done).error();
    }
    block.accelerator.resize(levels.size());
    for (const std::string& node : block.nodes) {
      if (auto done = tree.attach(block.leaf, {node, {}, {}, block.accelerator}, block.where);
          !done) {
        return std::move(done).error();
      }
    }
  }
  Warnings warnings;
  Result<domain::NetworkTable> table = tree.table(levels, warnings);
  if (!table) return std::move(table).error();
  return ImportedNetwork{*std::move(table), kModel, std::move(warnings).list()};
}

}  // namespace chipweave::codec
