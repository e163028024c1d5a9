// Slurm's topology.yaml: a list of topologies, of which the cluster's default is read.
#include <algorithm>
#include <array>
#include <utility>

#include "common/codec/network/formats.hpp"
#include "common/codec/network/slurm/slurm.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr std::array<const char*, 5> kShapes{"tree", "block", "flat", "ring", "torus3d"};

// "topology: name": a list of these is the file.
bool is_slurm_topology(JsonValue value) {
  return value["topology"] && std::any_of(kShapes.begin(), kShapes.end(), [&](const char* shape) {
           return static_cast<bool>(value[shape]);
         });
}

// Absent if the file is something else.
JsonValue list_of(const NetworkObjects& objects) {
  const JsonValue list = only_object(objects);
  return list.is_array() && is_slurm_topology(*list.begin()) ? list : JsonValue();
}

std::string name_of(JsonValue topology) { return text_or_empty(topology["topology"]); }

JsonValue choose(JsonValue list, Warnings& warnings) {
  const auto is_default = [](JsonValue one) {
    return one["cluster_default"].boolean().value_or(false);
  };
  const auto found = std::find_if(list.begin(), list.end(), is_default);
  const JsonValue chosen = found == list.end() ? *list.begin() : *found;
  if (const std::size_t count = list.size(); count > 1) {
    warnings.add("the file has " + std::to_string(count) + " topologies; " +
                 quoted_excerpt(name_of(chosen)) +
                 " is used (set cluster_default: true on another to choose it)");
  }
  return chosen;
}

Result<domain::NetworkTable> tree_table(JsonValue tree, Warnings& warnings) {
  const JsonValue switches = list_at(tree, "switches");
  if (!switches) return network_error("tree has no list \"switches\"");
  SwitchTree out;
  std::size_t i = 0;
  for (const JsonValue one : switches) {
    const auto name = text_or_integer(one["switch"]);
    const std::string where = list_item("switches", i++);
    if (!name) return network_error("key \"switch\" is missing").in(where);
    if (auto added = add_slurm_switch(out, *name, text_or_empty(one["children"]),
                                      text_or_empty(one["nodes"]), where);
        !added) {
      return std::move(added).error();
    }
  }
  if (auto good = out.require_declared(); !good) return std::move(good).error();
  return out.table({}, warnings);
}

Result<domain::NetworkTable> block_table(JsonValue block, Warnings& warnings) {
  const JsonValue blocks = list_at(block, "blocks");
  if (!blocks) return network_error("block has no list \"blocks\"");
  SlurmBlocks out;
  std::size_t i = 0;
  for (const JsonValue one : blocks) {
    const std::string where = list_item("blocks", i++);
    const auto name = text_or_integer(one["block"]);
    if (!name) return network_error("key \"block\" is missing").in(where);
    if (auto added = add_slurm_block(out, *name, text_or_empty(one["nodes"]), where); !added) {
      return std::move(added).error();
    }
  }
  std::vector<std::int64_t> sizes;
  for (const JsonValue item : list_at(block, "block_sizes")) {
    const auto size = item.integer();
    if (!size) return network_error("block_sizes must be whole numbers");
    sizes.push_back(*size);
  }
  return slurm_block_table(out.list, std::move(sizes), "block_sizes", warnings);
}

Result<domain::NetworkTable> table_of(JsonValue topology, Warnings& warnings) {
  if (const JsonValue tree = topology["tree"]) return tree_table(tree, warnings);
  if (const JsonValue block = topology["block"]) return block_table(block, warnings);
  if (topology["flat"]) {
    warnings.add("the topology is flat: it has neither levels nor nodes");
    return domain::NetworkTable{};
  }
  return network_error(
      "a ring or a torus has no hierarchy of levels; describe the network as a tree or as blocks");
}

bool looks_like_slurm_yaml(const NetworkObjects& objects) {
  return static_cast<bool>(list_of(objects));
}

Result<domain::NetworkTable> import_slurm_yaml(const NetworkObjects& objects,
                                               const std::vector<std::string>& /*levels*/,
                                               Warnings& warnings) {
  const JsonValue list = list_of(objects);
  if (!list)
    return not_this_format(kSlurmYamlFormat.name, "list of topologies (topology: NAME, tree: …)");
  const JsonValue chosen = choose(list, warnings);
  Result<domain::NetworkTable> table = table_of(chosen, warnings);
  if (table) return table;
  return std::move(table).error().in("topology " + quoted_excerpt(name_of(chosen)));
}

}  // namespace

const ObjectFormat kSlurmYamlFormat{"slurm-yaml", looks_like_slurm_yaml, import_slurm_yaml};

}  // namespace chipweave::codec
