// topograph: the answers of its graph engine, and the model files of its simulation.
#include <algorithm>
#include <set>
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

struct Instance {
  LabelledNode node;
  std::vector<std::string> path;  // coarsest first
};

Result<Instance> read_instance(JsonValue value, const std::string& where) {
  Instance out;
  const auto id = text_or_integer(value["id"]);
  if (!id) return network_error("key \"id\" is missing").in(where);
  out.node.name = *id;
  out.node.where = where;
  for (const JsonValue layer : list_at(value, "network_layers")) {
    auto name = text_or_integer(layer);
    if (!name) return network_error("network_layers must be a list of names").in(where);
    out.path.push_back(*std::move(name));
  }
  std::reverse(out.path.begin(), out.path.end());
  out.node.labels = read_labels(value["labels"]);
  return out;
}

struct ModelBlock {
  std::string leaf;
  std::string where;
  std::vector<std::string> nodes;
  std::vector<std::string> accelerator;  // domain, sub-domain; "" if there is none
};

// The value of the annotation (or label) that ends in /domain or /sub-domain.
std::string annotation(JsonValue block, std::string_view end) {
  for (const char* key : {"annotations", "labels"}) {
    for (const JsonValue value : members_by_name(block[key])) {
      if (value.name().ends_with(end)) return text_or_empty(value);
    }
  }
  return "";
}

Result<ModelBlock> read_block(JsonValue value, const std::string& where) {
  ModelBlock out;
  out.where = where;
  const auto leaf = text_or_integer(value["switch"]);
  if (!leaf) return network_error("key \"switch\" is missing").in(where);
  out.leaf = *leaf;
  for (const JsonValue one : list_at(value, "nodes")) {
    const auto list = text_or_integer(one);
    if (!list) return network_error("nodes must be a list of names").in(where);
    Result<std::vector<std::string>> names = expand_hostlist(*list);
    if (!names) return std::move(names).error().in(where);
    out.nodes.insert(out.nodes.end(), names->begin(), names->end());
    if (out.nodes.size() > limits::kMaxNetworkNodes)
      return too_many(limits::kMaxNetworkNodes, "nodes; split the file").in(where);
  }
  out.accelerator = {annotation(value, "/domain"), annotation(value, "/sub-domain")};
  return out;
}

Result<std::vector<ModelBlock>> read_blocks(JsonValue list) {
  std::vector<ModelBlock> out;
  std::size_t nodes = 0;
  for (const JsonValue value : list) {
    Result<ModelBlock> block = read_block(value, list_item("blocks", out.size()));
    if (!block) return std::move(block).error();
    nodes += block->nodes.size();
    if (nodes > limits::kMaxNetworkNodes)
      return too_many(limits::kMaxNetworkNodes, "nodes; split the file").in(block->where);
    out.push_back(*std::move(block));
  }
  return out;
}

Result<void> add_switches(SwitchTree& tree, const std::vector<JsonValue>& switches) {
  for (const JsonValue one : switches) {
    const std::string name(one.name());
    const std::string where = "switches." + name;
    if (auto done = tree.declare(name, where); !done) return done;
    for (const JsonValue child : list_at(one, "switches")) {
      const auto below = text_or_integer(child);
      if (!below) return network_error("switches must be a list of names").in(where);
      if (auto done = tree.connect(name, *below, where); !done) return done;
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

bool looks_like_topograph_graph(const NetworkObjects& objects) {
  const JsonValue list = list_at(only_object(objects), "instances");
  return list && (list.empty() || (*list.begin())["network_layers"]);
}

Result<domain::NetworkTable> import_topograph_graph(const NetworkObjects& objects,
                                                    const std::vector<std::string>& /*levels*/,
                                                    Warnings& warnings) {
  const JsonValue list = list_at(only_object(objects), "instances");
  if (!list) return not_this_format(kTopographFormat.name, "list instances");
  std::vector<LabelledNode> labelled;
  std::vector<std::vector<std::string>> paths;
  std::size_t depth = 0;
  for (const JsonValue value : list) {
    Result<Instance> one = read_instance(value, list_item("instances", paths.size()));
    if (!one) return std::move(one).error();
    depth = std::max(depth, one->path.size());
    paths.push_back(std::move(one->path));
    labelled.push_back(std::move(one->node));
  }
  Result<domain::NetworkTable> labels = table_by_labels(labelled, {}, warnings);
  if (!labels) return labels;
  NetworkTableBuilder builder(switch_levels(depth), labels->accelerator_levels);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    domain::NetworkNode& node = labels->nodes[i];
    node.path = std::move(paths[i]);
    // A node with fewer layers is attached higher up; one with none is outside.
    const std::string last = node.path.empty() ? "" : node.path.back();
    node.path.resize(depth, last);
    builder.add(std::move(node), labelled[i].where);
  }
  return std::move(builder).take();
}

bool looks_like_topograph_model(const NetworkObjects& objects) {
  return static_cast<bool>((*list_at(only_object(objects), "blocks").begin())["switch"]);
}

Result<domain::NetworkTable> import_topograph_model(const NetworkObjects& objects,
                                                    const std::vector<std::string>& /*levels*/,
                                                    Warnings& warnings) {
  const JsonValue value = only_object(objects);
  const JsonValue list = list_at(value, "blocks");
  if (!list) return not_this_format(kTopographModelFormat.name, "list blocks");
  if (value["switches"] && !value["switches"].is_object()) {
    return network_error("switches must be a map of names to what is below them");
  }
  const std::vector<JsonValue> switches = members_by_name(value["switches"]);
  SwitchTree tree;
  if (auto done = add_switches(tree, switches); !done) return std::move(done).error();
  std::set<std::string_view> declared;
  for (const JsonValue one : switches) declared.insert(one.name());
  Result<std::vector<ModelBlock>> blocks = read_blocks(list);
  if (!blocks) return std::move(blocks).error();
  const std::vector<std::string> levels = accelerator_levels(*blocks);
  for (ModelBlock& block : *blocks) {
    // A switch that only a block names is a leaf.
    if (declared.count(block.leaf) == 0) {
      if (auto done = tree.declare(block.leaf, block.where); !done) return std::move(done).error();
    }
    block.accelerator.resize(levels.size());
    for (const std::string& node : block.nodes) {
      if (auto done = tree.attach(block.leaf, {node, {}, {}, block.accelerator}, block.where);
          !done) {
        return std::move(done).error();
      }
    }
  }
  return tree.table(levels, warnings);
}

}  // namespace

const ObjectFormat kTopographFormat{"topograph", looks_like_topograph_graph,
                                    import_topograph_graph};
const ObjectFormat kTopographModelFormat{"topograph-model", looks_like_topograph_model,
                                         import_topograph_model};

}  // namespace chipweave::codec
