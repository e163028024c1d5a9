// The exporters of network descriptions, one format each. Internal to common/codec/network.
#pragma once

#include <string>
#include <string_view>

#include "common/codec/network/export.hpp"
#include "common/codec/network/table/domain_tree.hpp"
#include "common/codec/text/warnings.hpp"

namespace chipweave::codec {

// The input of an exporter: the table and the tree of its domains (which refers to the table).
struct NetworkExport {
  const domain::NetworkTable& table;
  const DomainTree& tree;
  Warnings& warnings;
};

Result<std::string> export_slurm_tree(const NetworkExport& from);
Result<std::string> export_slurm_tree_yaml(const NetworkExport& from);
Result<std::string> export_slurm_blocks(const NetworkExport& from);
Result<std::string> export_slurm_blocks_yaml(const NetworkExport& from);
Result<std::string> export_hypernodes(const NetworkExport& from);
Result<std::string> export_kueue(const NetworkExport& from);
Result<std::string> export_dlrover(const NetworkExport& from);
Result<std::string> export_tor_info(const NetworkExport& from);
Result<std::string> export_topograph(const NetworkExport& from);
Result<std::string> export_network_csv(const NetworkExport& from);

// As a JSON string, which YAML reads as text, too.
std::string quoted_json(std::string_view text);

// Warnings for parts of a table that a format without them cannot express.
void warn_of_rails(const NetworkExport& from);
void warn_of_accelerator(const NetworkExport& from);
// Readers of a tree of switches name the levels themselves.
void warn_of_level_names(const NetworkExport& from);

}  // namespace chipweave::codec
