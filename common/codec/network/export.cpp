#include "common/codec/network/export.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/near_names.hpp"
#include "common/codec/network/exporters.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/network/table/table_builder.hpp"

namespace chipweave::codec {
namespace {

constexpr std::string_view kJson = "json";

struct Format {
  std::string_view name;
  Result<std::string> (*write)(const NetworkExport&);
  bool is_tree;  // cannot express nodes outside of all domains
};
constexpr std::array<Format, 10> kFormats = {{
    {"slurm", export_slurm_tree, true},
    {"slurm-block", export_slurm_blocks, true},
    {"slurm-yaml", export_slurm_tree_yaml, true},
    {"slurm-yaml-block", export_slurm_blocks_yaml, true},
    {"hypernode", export_hypernodes, true},
    {"kueue", export_kueue, false},
    {"dlrover", export_dlrover, false},
    {"tor", export_tor_info, false},
    {"topograph", export_topograph, false},
    {"csv", export_network_csv, false},
}};

void warn_of_unknown(const NetworkExport& from, bool is_tree) {
  if (is_tree && !from.tree.outside().empty()) {
    from.warnings.add(std::to_string(from.tree.outside().size()) +
                      " nodes are in no domain and are left out");
  }
  if (from.tree.cut() > 0) {
    from.warnings.add(std::to_string(from.tree.cut()) +
                      " nodes have an unknown level in their path: only the levels above it are "
                      "written");
  }
}

}  // namespace

std::string quoted_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

void warn_of_rails(const NetworkExport& from) {
  const auto with = std::count_if(from.table.nodes.begin(), from.table.nodes.end(),
                                  [](const auto& node) { return !node.rails.empty(); });
  if (with > 0) from.warnings.add("the rails of " + std::to_string(with) + " nodes are left out");
}

void warn_of_accelerator(const NetworkExport& from) {
  if (from.table.accelerator_levels.empty()) return;
  from.warnings.add("the accelerators' own interconnect is left out");
}

void warn_of_level_names(const NetworkExport& from) {
  if (from.table.levels == switch_levels(from.table.levels.size())) return;
  from.warnings.add("the names of the levels are left out");
}

std::vector<std::string_view> network_export_formats() {
  std::vector<std::string_view> out{kJson};
  for (const Format& format : kFormats) out.push_back(format.name);
  return out;
}

std::string export_network_json(const domain::NetworkTable& table,
                                const std::vector<std::string>& warnings) {
  JsonWriter json;
  json.begin_object().key("levels").strings(table.levels);
  if (!table.accelerator_levels.empty()) {
    json.key("accelerator_levels").strings(table.accelerator_levels);
  }
  json.key("nodes").begin_array();
  for (const domain::NetworkNode& node : table.nodes) {
    json.on_new_line().begin_object().field("name", node.name).key("path").strings(node.path);
    json.key("rails").strings(node.rails);
    if (!node.accelerator.empty()) json.key("accelerator").strings(node.accelerator);
    json.end_object();
  }
  json.on_new_line().end_array().key("warnings").strings(warnings);
  return json.end_object().take() + "\n";
}

Result<ExportedNetwork> export_network(const domain::NetworkTable& table, std::string_view format) {
  if (format == kJson) return ExportedNetwork{export_network_json(table, {}), {}};
  const auto found = std::find_if(kFormats.begin(), kFormats.end(),
                                  [&](const Format& one) { return one.name == format; });
  if (found == kFormats.end()) {
    return network_error(unknown_name("format", format, network_export_formats())).in("--to");
  }
  const DomainTree tree(table);
  Warnings warnings;
  const NetworkExport from{table, tree, warnings};
  // CSV and Kueue's labels write paths with their gaps.
  if (found->name != "csv" && found->name != "kueue") warn_of_unknown(from, found->is_tree);
  Result<std::string> text = found->write(from);
  if (!text) return std::move(text).error();
  return ExportedNetwork{*std::move(text), std::move(warnings).list()};
}

}  // namespace chipweave::codec
