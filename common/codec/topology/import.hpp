// Import of machine descriptions: bytes of a foreign format → NodeTopology. The format is detected
// by content.
//
// No I/O here (common/io reads files and folders). Importers tolerate what real files contain
// (comments, unknown attributes, blank columns, colours). Contradictions are errors that name line,
// key or chip.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::domain {
class TopologyBuilder;
}

namespace chipweave::codec {

struct ImportOptions {
  std::string model;  // overrides that of the file ("H100"); link rates follow from it
};

// Facts about the host that a topology does not hold, by chip index. Chips without a stated value
// are missing.
struct HostFacts {
  std::map<int, std::string> cpus;   // the nearest CPUs: "0-19,40-59"
  std::map<int, int> render_minors;  // N of /dev/dri/renderD<N>
  // The chips have the numbers of rocm-smi, which ROCm's runtime need not share.
  bool rocm_smi_numbers = false;
};

struct ImportedTopology {
  domain::NodeTopology topology;
  std::string format;  // "nccl-xml", "nccl-graph", "nvidia-smi", "hwloc-xml", "kfd", "npu-smi",
                       // "rocm-smi", "amd-smi", "mx-smi", "chipweave-json"
  std::vector<std::string> warnings;  // what was assumed or left out, for people
  // CPUs of each chip, by index, where the file prints these but no NUMA nodes: chips with the same
  // CPUs have the same `numa`, a number that the file does not state. Empty otherwise.
  std::map<int, std::string> cpu_ranges = {};
  HostFacts host = {};
};

// What an importer returns in the end; `format` as above.
Result<ImportedTopology> imported(domain::TopologyBuilder&& builder, const char* format,
                                  std::vector<std::string> warnings);

// Relative path → content, e.g. "nodes/2/properties": a folder or tar archive, as common/io reads
// it.
using FileTree = std::map<std::string, std::string, std::less<>>;

// Detects the format of one file and imports it. Unknown content: an error that lists the formats.
Result<ImportedTopology> import_topology(std::string_view content,
                                         const ImportOptions& options = {});
// A folder: KFD sysfs trees.
Result<ImportedTopology> import_topology_tree(const FileTree& tree,
                                              const ImportOptions& options = {});

// One importer per format; `looks_like_*` is cheap and reads the beginning only.
bool looks_like_nccl_xml(std::string_view content);
Result<ImportedTopology> import_nccl_xml(std::string_view content, const ImportOptions& options);
bool looks_like_nccl_graph(std::string_view content);
Result<ImportedTopology> import_nccl_graph(std::string_view content, const ImportOptions& options);
bool looks_like_hwloc_xml(std::string_view content);
Result<ImportedTopology> import_hwloc_xml(std::string_view content, const ImportOptions& options);
bool looks_like_nvidia_smi(std::string_view content);
Result<ImportedTopology> import_nvidia_smi(std::string_view content, const ImportOptions& options);
bool looks_like_npu_smi(std::string_view content);
Result<ImportedTopology> import_npu_smi(std::string_view content, const ImportOptions& options);
// A file may hold several matrices (documentation); all of them, in order.
Result<std::vector<ImportedTopology>> import_npu_smi_all(std::string_view content,
                                                         const ImportOptions& options);
bool looks_like_rocm_smi(std::string_view content);
Result<ImportedTopology> import_rocm_smi(std::string_view content, const ImportOptions& options);
bool looks_like_amd_smi(std::string_view content);
Result<ImportedTopology> import_amd_smi(std::string_view content, const ImportOptions& options);
bool looks_like_mx_smi(std::string_view content);
Result<ImportedTopology> import_mx_smi(std::string_view content, const ImportOptions& options);
bool looks_like_topology_json(std::string_view content);
Result<ImportedTopology> import_topology_json(std::string_view content,
                                              const ImportOptions& options);
// By the names of its files alone.
bool looks_like_kfd_tree(const FileTree& tree);
Result<ImportedTopology> import_kfd_tree(const FileTree& tree, const ImportOptions& options);

// Exports. JSON: canonical own schema, one trailing newline, reads back to an equal topology.
std::string export_topology_json(const domain::NodeTopology& topology);
// NCCL topology XML version 1 (version 2 with xgmi elements for AMD).
struct NcclXml {
  std::string text;
  std::vector<std::string> left_out;  // what the format cannot express, for people
};
NcclXml export_nccl_xml(const domain::NodeTopology& topology);

}  // namespace chipweave::codec
