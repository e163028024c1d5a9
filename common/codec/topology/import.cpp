#include "common/codec/topology/import.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/text/json_mend.hpp"
#include "common/domain/topology_builder.hpp"

namespace chipweave::codec {
namespace {

struct Format {
  bool (*looks_like)(std::string_view);
  Result<ImportedTopology> (*import)(std::string_view, const ImportOptions&);
};

// The more specific ones first: a graph file is also NCCL XML, and a topology JSON is also YAML.
constexpr std::array<Format, 9> kFormats = {{
    {looks_like_nccl_graph, import_nccl_graph},
    {looks_like_nccl_xml, import_nccl_xml},
    {looks_like_hwloc_xml, import_hwloc_xml},
    {looks_like_topology_json, import_topology_json},
    {looks_like_rocm_smi, import_rocm_smi},
    {looks_like_amd_smi, import_amd_smi},
    {looks_like_npu_smi, import_npu_smi},
    {looks_like_mx_smi, import_mx_smi},
    {looks_like_nvidia_smi, import_nvidia_smi},
}};

Error refused(std::string text) { return make_error(Errc::invalid_argument, std::move(text)); }

// Describes bytes that are not UTF-8 text; "" for text.
std::string not_text(std::string_view content) {
  if (content.starts_with("\xFF\xFE") || content.starts_with("\xFE\xFF")) {
    return "the file is UTF-16 text; save it as UTF-8";
  }
  if (content.starts_with("\x1f\x8b")) {
    return "the file is a gzip archive, which must hold a KFD tree";
  }
  const std::string_view beginning = content.substr(0, std::size_t{64} << 10U);
  const auto zeros = std::count(beginning.begin(), beginning.end(), '\0');
  if (zeros == 0) return "";
  // Latin text in UTF-16 without a mark has a zero in every second byte
  const bool wide = static_cast<std::size_t>(zeros) * 5 > beginning.size() * 2 &&
                    static_cast<std::size_t>(zeros) * 5 < beginning.size() * 3;
  return wide ? "the file looks like UTF-16 text; save it as UTF-8"
              : "the file is binary, not a machine description";
}

Error unknown_format(std::string_view content) {
  constexpr std::string_view kKnown =
      "; known formats: NCCL/RCCL topology and graph XML, hwloc XML, nvidia-smi topo -m, npu-smi "
      "info -t topo, rocm-smi --showtopo, amd-smi topology, mx-smi topo -m, KFD folders, chipweave "
      "topology JSON";
  const std::size_t start = content.find_first_not_of(" \t\r\n\v\f");
  if (start == std::string_view::npos) return refused("the file is empty" + std::string(kKnown));
  if (begins_as_json(content)) {
    const auto tree = parse_json(content, {limits::kMaxTopologyFileBytes, limits::kMaxJsonValues});
    if (!tree) return tree.error();
  }
  if (content[start] == '<') {
    return refused("this XML is neither an NCCL topology or graph nor an hwloc export" +
                   std::string(kKnown));
  }
  return refused("unknown format" + std::string(kKnown));
}

}  // namespace

Result<ImportedTopology> imported(domain::TopologyBuilder&& builder, const char* format,
                                  std::vector<std::string> warnings) {
  return std::move(builder).build().transform([&](domain::NodeTopology topology) {
    return ImportedTopology{std::move(topology), format, std::move(warnings)};
  });
}

Result<ImportedTopology> import_topology(std::string_view content, const ImportOptions& options) {
  if (content.size() > limits::kMaxTopologyFileBytes) {
    return make_error(
        Errc::limit_exceeded,
        "must be at most " + std::to_string(limits::kMaxTopologyFileBytes >> 20U) + " MiB");
  }
  constexpr std::string_view kBom = "\xEF\xBB\xBF";
  if (content.starts_with(kBom)) content.remove_prefix(kBom.size());
  if (std::string why = not_text(content); !why.empty()) return refused(std::move(why));
  for (const Format& format : kFormats) {
    if (format.looks_like(content)) return format.import(content, options);
  }
  return unknown_format(content);
}

bool looks_like_kfd_tree(const FileTree& tree) {
  return std::any_of(tree.begin(), tree.end(), [](const auto& file) {
    return std::string_view(file.first).ends_with("/properties");
  });
}

Result<ImportedTopology> import_topology_tree(const FileTree& tree, const ImportOptions& options) {
  if (looks_like_kfd_tree(tree)) return import_kfd_tree(tree, options);
  return refused(tree.empty() ? "the folder holds no readable file"
                              : "the folder is not a machine description: a KFD tree has files "
                                "nodes/<n>/properties");
}

}  // namespace chipweave::codec
