#include "common/codec/network/slurm/slurm.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/network/slurm/hostlist.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

Result<std::vector<std::string>> names_of(std::string_view list, const std::string& where) {
  if (list.empty()) return std::vector<std::string>{};
  Result<std::vector<std::string>> names = expand_hostlist(list);
  if (!names) return std::move(names).error().in(where);
  return names;
}

// For each distinct size, smallest first, the number of smallest blocks in it.
Result<std::vector<std::int64_t>> blocks_by_level(std::vector<std::int64_t> sizes) {
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::vector<std::int64_t> out;
  for (const std::int64_t size : sizes) {
    if (size < 1 || size > static_cast<std::int64_t>(limits::kMaxNetworkDomains)) {
      return network_error("block size " + std::to_string(size) + " must be from 1 to " +
                           std::to_string(limits::kMaxNetworkDomains));
    }
    const std::int64_t factor = size / sizes.front();
    if (size % sizes.front() != 0 || (factor & (factor - 1)) != 0) {
      return network_error("block size " + std::to_string(size) + " must be the smallest, " +
                           std::to_string(sizes.front()) + ", times a power of two");
    }
    out.push_back(factor);
  }
  return out;
}

// The domain of block `index` if each consists of `factor` adjacent blocks.
std::string group_name(const std::vector<SlurmBlock>& blocks, std::size_t index,
                       std::size_t factor) {
  const std::size_t first = index / factor * factor;
  const std::size_t last = std::min(first + factor, blocks.size()) - 1;
  if (first == last) return blocks[first].name;
  return blocks[first].name + ".." + blocks[last].name;
}

void warn_of_size(const SlurmBlock& block, std::int64_t size, Warnings& warnings) {
  if (block.nodes.empty()) {
    warnings.add("block " + quoted_excerpt(block.name) + " has no nodes");
  } else if (block.nodes.size() > static_cast<std::size_t>(size)) {
    warnings.add("block " + quoted_excerpt(block.name) + " has " +
                 std::to_string(block.nodes.size()) + " nodes, more than the block size " +
                 std::to_string(size));
  }
}

Result<void> check_blocks(const std::vector<SlurmBlock>& blocks) {
  if (blocks.size() > limits::kMaxNetworkDomains) {
    return too_many(limits::kMaxNetworkDomains, "blocks; split the file");
  }
  std::set<std::string_view> seen;
  for (const SlurmBlock& block : blocks) {
    if (auto good = check_network_name("block", block.name); !good) {
      return std::move(good).error().in(block.where);
    }
    if (!seen.insert(block.name).second) {
      return network_error("duplicate block " + quoted_excerpt(block.name)).in(block.where);
    }
  }
  return {};
}

}  // namespace

Result<void> add_slurm_switch(SwitchTree& tree, const std::string& name, std::string_view children,
                              std::string_view nodes, const std::string& where) {
  if (auto done = tree.declare(name, where); !done) return done;
  const Result<std::vector<std::string>> below = names_of(children, where);
  if (!below) return below.error();
  for (const std::string& child : *below) {
    if (auto done = tree.connect(name, child, where); !done) return done;
  }
  const Result<std::vector<std::string>> members = names_of(nodes, where);
  if (!members) return members.error();
  for (const std::string& node : *members) {
    if (auto done = tree.attach(name, {node, {}, {}, {}}, where); !done) return done;
  }
  return {};
}

Result<void> add_slurm_block(SlurmBlocks& blocks, const std::string& name, std::string_view nodes,
                             const std::string& where) {
  Result<std::vector<std::string>> members = names_of(nodes, where);
  if (!members) return std::move(members).error();
  blocks.nodes += members->size();
  if (blocks.nodes > limits::kMaxNetworkNodes) {
    return too_many(limits::kMaxNetworkNodes, "nodes; split the file").in(where);
  }
  blocks.list.push_back({name, *std::move(members), where});
  return {};
}

Result<domain::NetworkTable> slurm_block_table(const std::vector<SlurmBlock>& blocks,
                                               std::vector<std::int64_t> sizes,
                                               const std::string& sizes_where, Warnings& warnings) {
  if (auto good = check_blocks(blocks); !good) return std::move(good).error();
  Result<std::vector<std::int64_t>> factors = blocks_by_level(sizes);
  if (!factors) return std::move(factors).error().in(sizes_where);
  if (factors->empty()) factors->push_back(1);
  const std::int64_t base = sizes.empty() ? 0 : *std::min_element(sizes.begin(), sizes.end());
  std::vector<std::string> levels;
  for (auto factor = factors->rbegin(); factor != factors->rend(); ++factor) {
    levels.push_back(*factor == 1 ? "block" : "block-" + std::to_string(*factor * base));
  }
  NetworkTableBuilder builder(std::move(levels), {}, sizes_where);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (base > 0) warn_of_size(blocks[i], base, warnings);
    std::vector<std::string> path;
    for (auto factor = factors->rbegin(); factor != factors->rend(); ++factor) {
      path.push_back(group_name(blocks, i, static_cast<std::size_t>(*factor)));
    }
    for (const std::string& node : blocks[i].nodes) {
      builder.add({node, path, {}, {}}, blocks[i].where);
    }
  }
  return std::move(builder).take();
}

}  // namespace chipweave::codec
