// What Slurm's two files, topology.conf and topology.yaml, share. Internal to
// common/codec/network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/network/table/switch_tree.hpp"
#include "common/codec/text/warnings.hpp"
#include "common/domain/network_table.hpp"

namespace chipweave::codec {

// Both lists may be empty; errors name `where`.
Result<void> add_slurm_switch(SwitchTree& tree, const std::string& name, std::string_view children,
                              std::string_view nodes, const std::string& where);

struct SlurmBlock {
  std::string name;
  std::vector<std::string> nodes;
  std::string where;
};

// Blocks in file order, and the number of their nodes, which is bounded.
struct SlurmBlocks {
  std::vector<SlurmBlock> list;
  std::size_t nodes = 0;
};
// `nodes` is a host list, "" for none. Errors name `where`.
Result<void> add_slurm_block(SlurmBlocks& blocks, const std::string& name, std::string_view nodes,
                             const std::string& where);

// Blocks in file order. The smallest size is that of a block; every larger size N makes a level
// "block-N" above, whose domains are runs of adjacent blocks in file order with N nodes together,
// named FIRST..LAST. Errors: a size that is not the smallest times a power of two.
Result<domain::NetworkTable> slurm_block_table(const std::vector<SlurmBlock>& blocks,
                                               std::vector<std::int64_t> sizes,
                                               const std::string& sizes_where, Warnings& warnings);

}  // namespace chipweave::codec
