// The formats of network descriptions: one importer each. Internal to common/codec/network.
//
// `looks_like_*` is cheap and looks at the beginning of a text, or at the kinds of its objects. An
// importer may be called with anything (--format); its error then names what is missing.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/network/import.hpp"
#include "common/codec/network/objects.hpp"

namespace chipweave::codec {

// Texts.
bool looks_like_slurm_conf(std::string_view text);
Result<ImportedNetwork> import_slurm_conf(std::string_view text);
bool looks_like_ibnetdiscover(std::string_view text);
Result<ImportedNetwork> import_ibnetdiscover(std::string_view text);
bool looks_like_network_csv(std::string_view text);
Result<ImportedNetwork> import_network_csv(std::string_view text);
bool looks_like_dlrover_lines(std::string_view text);
Result<ImportedNetwork> import_dlrover_lines(std::string_view text);

// JSON or YAML.
bool looks_like_network_json(const NetworkObjects& objects);
Result<ImportedNetwork> import_network_json(const NetworkObjects& objects,
                                            const NetworkImportOptions& options);
bool looks_like_slurm_yaml(const NetworkObjects& objects);
Result<ImportedNetwork> import_slurm_yaml(const NetworkObjects& objects,
                                          const NetworkImportOptions& options);
bool looks_like_hypernodes(const NetworkObjects& objects);
Result<ImportedNetwork> import_hypernodes(const NetworkObjects& objects,
                                          const NetworkImportOptions& options);
bool looks_like_kueue(const NetworkObjects& objects);
Result<ImportedNetwork> import_kueue(const NetworkObjects& objects,
                                     const NetworkImportOptions& options);
bool looks_like_koordinator(const NetworkObjects& objects);
Result<ImportedNetwork> import_koordinator(const NetworkObjects& objects,
                                           const NetworkImportOptions& options);
bool looks_like_topograph_graph(const NetworkObjects& objects);
Result<ImportedNetwork> import_topograph_graph(const NetworkObjects& objects,
                                               const NetworkImportOptions& options);
bool looks_like_topograph_model(const NetworkObjects& objects);
Result<ImportedNetwork> import_topograph_model(const NetworkObjects& objects,
                                               const NetworkImportOptions& options);
bool looks_like_dlrover_map(const NetworkObjects& objects);
Result<ImportedNetwork> import_dlrover_map(const NetworkObjects& objects,
                                           const NetworkImportOptions& options);
bool looks_like_tor_info(const NetworkObjects& objects);
Result<ImportedNetwork> import_tor_info(const NetworkObjects& objects,
                                        const NetworkImportOptions& options);
bool looks_like_super_pods(const NetworkObjects& objects);
Result<ImportedNetwork> import_super_pods(const NetworkObjects& objects,
                                          const NetworkImportOptions& options);
bool looks_like_node_inventories(const NetworkObjects& objects);
Result<ImportedNetwork> import_node_inventories(const NetworkObjects& objects,
                                                const NetworkImportOptions& options);
bool looks_like_node_labels(const NetworkObjects& objects);
Result<ImportedNetwork> import_node_labels(const NetworkObjects& objects,
                                           const NetworkImportOptions& options);

}  // namespace chipweave::codec
