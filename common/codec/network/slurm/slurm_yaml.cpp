// Slurm's topology.yaml: a list of topologies, of which the cluster's default is read.
#include <algorithm>
#include <array>
#include <utility>

#include "common/codec/network/formats.hpp"
#include "common/codec/network/slurm/slurm.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr const char* kSlurmYamlFormat = "slurm-yaml";
constexpr std::array<const char*, 5> kShapes{"tree", "block", "flat", "ring", "torus3d"};

bool is_slurm_topology(const Json& value) {
  return value.is_object() && value.contains("topology") &&
         std::any_of(kShapes.begin(), kShapes.end(),
                     [&](const char* shape) { return value.contains(shape); });
}

// "topology: name": a list of these is the file.
const Json* list_of(const NetworkObjects& objects) {
  const Json* list = only_object(objects);
  return list != nullptr && list->is_array() && !list->empty() && is_slurm_topology(list->front())
             ? list
             : nullptr;
}

std::string name_of(const Json& topology) {
  return json_word(json_at(topology, {"topology"})).value_or("");
}

const Json& choose(const Json& list, Warnings& warnings) {
  const Json* chosen = &list.front();
  for (const Json& one : list) {
    const Json* is_default = json_at(one, {"cluster_default"});
    if (is_default != nullptr && is_default->is_boolean() && is_default->get<bool>()) {
      chosen = &one;
      break;
    }
  }
  if (list.size() > 1) {
    warnings.add("the file has " + std::to_string(list.size()) + " topologies; " +
                 quoted_excerpt(name_of(*chosen)) +
                 " is used (set cluster_default: true on another to choose it)");
  }
  return *chosen;
}

Result<domain::NetworkTable> tree_table(const Json& tree, Warnings& warnings) {
  const Json* switches = list_at(tree, "switches");
  if (switches == nullptr) return network_error("tree has no list \"switches\"");
  SwitchTree out;
  for (std::size_t i = 0; i < switches->size(); ++i) {
    const Json& one = (*switches)[i];
    const auto name = json_word(json_at(one, {"switch"}));
    const std::string where = list_item("switches", i);
    if (!name) return network_error("key \"switch\" is missing").in(where);
    const std::string children = json_word(json_at(one, {"children"})).value_or("");
    const std::string nodes = json_word(json_at(one, {"nodes"})).value_or("");
    if (auto added = add_slurm_switch(out, *name, children, nodes, where); !added) {
      return std::move(added).error();
    }
  }
  if (auto good = out.require_declared(); !good) return std::move(good).error();
  return out.table({}, warnings);
}

Result<domain::NetworkTable> block_table(const Json& block, Warnings& warnings) {
  const Json* blocks = list_at(block, "blocks");
  if (blocks == nullptr) return network_error("block has no list \"blocks\"");
  SlurmBlocks out;
  for (std::size_t i = 0; i < blocks->size(); ++i) {
    const Json& one = (*blocks)[i];
    const std::string where = list_item("blocks", i);
    const auto name = json_word(json_at(one, {"block"}));
    if (!name) return network_error("key \"block\" is missing").in(where);
    const std::string nodes = json_word(json_at(one, {"nodes"})).value_or("");
    if (auto added = add_slurm_block(out, *name, nodes, where); !added) {
      return std::move(added).error();
    }
  }
  std::vector<std::int64_t> sizes;
  if (const Json* list = list_at(block, "block_sizes")) {
    for (const Json& size : *list) {
      if (!size.is_number_integer()) return network_error("block_sizes must be whole numbers");
      sizes.push_back(size.get<std::int64_t>());
    }
  }
  return slurm_block_table(out.list, std::move(sizes), "block_sizes", warnings);
}

Result<domain::NetworkTable> table_of(const Json& topology, Warnings& warnings) {
  if (const Json* tree = json_at(topology, {"tree"})) return tree_table(*tree, warnings);
  if (const Json* block = json_at(topology, {"block"})) return block_table(*block, warnings);
  if (topology.is_object() && topology.contains("flat")) {
    warnings.add("the topology is flat: it has neither levels nor nodes");
    return domain::NetworkTable{};
  }
  return network_error(
      "a ring or a torus has no hierarchy of levels; describe the network as a tree or as blocks");
}

}  // namespace

bool looks_like_slurm_yaml(const NetworkObjects& objects) { return list_of(objects) != nullptr; }

Result<ImportedNetwork> import_slurm_yaml(const NetworkObjects& objects,
                                          const NetworkImportOptions& /*options*/) {
  const Json* list = list_of(objects);
  if (list == nullptr)
    return not_this_format(kSlurmYamlFormat, "list of topologies (topology: NAME, tree: …)");
  Warnings warnings;
  const Json& chosen = choose(*list, warnings);
  Result<domain::NetworkTable> table = table_of(chosen, warnings);
  if (!table) {
    return std::move(table).error().in("topology " + quoted_excerpt(name_of(chosen)));
  }
  return ImportedNetwork{*std::move(table), kSlurmYamlFormat, std::move(warnings).list()};
}

}  // namespace chipweave::codec
