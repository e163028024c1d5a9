// Slurm's topology.conf and topology.yaml, as a tree of switches and as blocks.
#include <algorithm>
#include <utility>

#include "common/codec/network/exporters.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/network/slurm/hostlist.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

// Errors: a name that would break a line or a host list.
Result<void> check_names(const NetworkExport& from) {
  const auto check = [](const std::string& name) -> Result<void> {
    if (fits_hostlist(name)) return {};
    return network_error(
        quoted_excerpt(name) +
        " is not allowed in Slurm's host lists (blanks, commas, brackets, quotes); "
        "rename it");
  };
  for (const domain::NetworkNode& node : from.table.nodes) {
    if (auto good = check(node.name); !good) return good;
  }
  for (const DomainTree::Domain& domain : from.tree.domains()) {
    if (auto good = check(domain.name); !good) return good;
  }
  return {};
}

std::string node_list(const NetworkExport& from, const std::vector<std::size_t>& nodes) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const std::size_t node : nodes) names.push_back(from.table.nodes[node].name);
  return compress_hostlist(names);
}

std::string child_list(const NetworkExport& from, const DomainTree::Domain& domain) {
  std::vector<std::string> names;
  for (const std::size_t child : domain.children) {
    names.push_back(from.tree.domains()[child].name);
  }
  return compress_hostlist(names);
}

void warn_of_tree(const NetworkExport& from) {
  warn_of_rails(from);
  warn_of_accelerator(from);
  warn_of_level_names(from);
}

// Blocks, and the sizes of the larger blocks above them in nodes.
struct Blocks {
  std::vector<const DomainTree::Domain*> blocks;
  std::vector<std::size_t> sizes;
};

// The number of blocks, in file order, in each domain of a level; empty if the blocks of a domain
// are not adjacent, or a block is above the level.
std::vector<std::size_t> runs(const NetworkExport& from, const Blocks& blocks, std::size_t level) {
  std::vector<std::size_t> out;
  std::vector<std::string> last;
  std::vector<std::vector<std::string>> seen;
  for (const DomainTree::Domain* block : blocks.blocks) {
    const std::vector<std::string>& path = from.table.nodes[block->nodes.front()].path;
    std::vector<std::string> here(path.begin(),
                                  path.begin() + static_cast<std::ptrdiff_t>(level) + 1);
    if (out.empty() || here != last) {
      seen.push_back(here);
      out.push_back(0);
    }
    ++out.back();
    last = std::move(here);
  }
  std::sort(seen.begin(), seen.end());
  const bool apart = std::adjacent_find(seen.begin(), seen.end()) != seen.end();
  return apart ? std::vector<std::size_t>{} : out;
}

// Whether all but the last run are of one length that is a power of two.
bool is_aggregate(const std::vector<std::size_t>& runs_of_level) {
  if (runs_of_level.empty()) return false;
  const std::size_t length = runs_of_level.front();
  const bool equal = std::all_of(runs_of_level.begin(), runs_of_level.end() - 1,
                                 [&](std::size_t run) { return run == length; });
  return equal && runs_of_level.back() <= length && (length & (length - 1)) == 0;
}

Result<Blocks> blocks_of(const NetworkExport& from) {
  if (auto good = check_names(from); !good) return std::move(good).error();
  Blocks out;
  std::size_t largest = 0;
  for (const DomainTree::Domain& domain : from.tree.domains()) {
    if (domain.nodes.empty()) continue;
    if (!domain.children.empty()) {
      return network_error("domain " + quoted_excerpt(domain.name) +
                           " has nodes and smaller domains; a block may hold only nodes");
    }
    out.blocks.push_back(&domain);
    largest = std::max(largest, domain.nodes.size());
  }
  if (out.blocks.empty()) {
    return network_error("no node is in a domain, so there are no blocks");
  }
  // In the order of the tree, so that blocks of one larger domain are adjacent.
  std::stable_sort(out.blocks.begin(), out.blocks.end(),
                   [&](const DomainTree::Domain* a, const DomainTree::Domain* b) {
                     return a->parent < b->parent;
                   });
  out.sizes.push_back(largest);
  for (std::size_t up = from.table.levels.size(); up-- > 1;) {
    const std::size_t level = up - 1;
    const std::vector<std::size_t> of_level = runs(from, out, level);
    if (!is_aggregate(of_level)) {
      from.warnings.add(
          "level " + quoted_excerpt(from.table.levels[level]) +
          " is left out: its domains do not all hold the same power of two of blocks");
    } else if (of_level.front() * largest > out.sizes.back()) {
      out.sizes.push_back(of_level.front() * largest);
    }
  }
  if (from.table.levels.size() > 1) {
    from.warnings.add("names of levels and of domains above the blocks are left out");
  }
  warn_of_rails(from);
  warn_of_accelerator(from);
  return out;
}

}  // namespace

Result<std::string> export_slurm_tree(const NetworkExport& from) {
  if (auto good = check_names(from); !good) return std::move(good).error();
  warn_of_tree(from);
  std::string out;
  for (const DomainTree::Domain& domain : from.tree.domains()) {
    out += "SwitchName=" + domain.name;
    if (!domain.children.empty()) out += " Switches=" + child_list(from, domain);
    if (!domain.nodes.empty()) out += " Nodes=" + node_list(from, domain.nodes);
    out += "\n";
  }
  return out;
}

// JSON is YAML; quoted like this no name can be read as a number.
Result<std::string> export_slurm_tree_yaml(const NetworkExport& from) {
  if (auto good = check_names(from); !good) return std::move(good).error();
  warn_of_tree(from);
  std::string out = "- topology: default\n  cluster_default: true\n  tree:\n    switches:\n";
  for (const DomainTree::Domain& domain : from.tree.domains()) {
    out += "      - switch: " + quoted_json(domain.name);
    if (!domain.children.empty())
      out += "\n        children: " + quoted_json(child_list(from, domain));
    if (!domain.nodes.empty())
      out += "\n        nodes: " + quoted_json(node_list(from, domain.nodes));
    out += "\n";
  }
  return out;
}

Result<std::string> export_slurm_blocks(const NetworkExport& from) {
  const Result<Blocks> blocks = blocks_of(from);
  if (!blocks) return blocks.error();
  std::string out;
  for (const DomainTree::Domain* block : blocks->blocks) {
    out += "BlockName=" + block->name + " Nodes=" + node_list(from, block->nodes) + "\n";
  }
  out += "BlockSizes=";
  for (std::size_t i = 0; i < blocks->sizes.size(); ++i) {
    out += (i == 0 ? "" : ",") + std::to_string(blocks->sizes[i]);
  }
  return out + "\n";
}

Result<std::string> export_slurm_blocks_yaml(const NetworkExport& from) {
  const Result<Blocks> blocks = blocks_of(from);
  if (!blocks) return blocks.error();
  std::string out = "- topology: default\n  cluster_default: true\n  block:\n    block_sizes:\n";
  for (const std::size_t size : blocks->sizes) out += "      - " + std::to_string(size) + "\n";
  out += "    blocks:\n";
  for (const DomainTree::Domain* block : blocks->blocks) {
    out += "      - block: " + quoted_json(block->name) +
           "\n        nodes: " + quoted_json(node_list(from, block->nodes)) + "\n";
  }
  return out;
}

}  // namespace chipweave::codec
