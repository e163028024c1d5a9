// The exporters of network descriptions, one format each. Internal to common/codec/network.
#pragma once

#include <string>

#include "common/codec/network/export.hpp"
#include "common/codec/network/table/domain_tree.hpp"
#include "common/codec/text/warnings.hpp"

namespace chipweave::codec {

// What an exporter gets: the table and the tree of its domains (which refers to the table).
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

// A warning for each part of a table that formats of levels only cannot say.
void warn_of_rails(const NetworkExport& from);
void warn_of_accelerator(const NetworkExport& from);
// That readers of a tree of switches will call the levels otherwise.
void warn_of_level_names(const NetworkExport& from);

}  // namespace chipweave::codec
