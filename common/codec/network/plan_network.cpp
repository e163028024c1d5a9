#include "common/codec/network/plan_network.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/network/export.hpp"
#include "common/codec/network/objects.hpp"

namespace chipweave::codec {
namespace {

constexpr JsonLimits kPlanLimits{limits::kMaxPlanLineBytes, limits::kMaxPlanValues};

// chipweave's own JSON keeps what only planners read (free, machine, max_pods …), and may be as
// large as a plan request. Empty if it is something else; the importers report what.
std::optional<JsonTree> own_json(std::string_view content, const NetworkImportOptions& options) {
  if (!options.levels.empty()) return std::nullopt;
  if (!options.format.empty() && options.format != "chipweave-json") return std::nullopt;
  constexpr std::string_view kBom = "\xEF\xBB\xBF";
  if (content.starts_with(kBom)) content.remove_prefix(kBom.size());
  const std::size_t start = content.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || content[start] != '{') return std::nullopt;
  Result<JsonTree> tree = parse_json(content, kPlanLimits);
  if (!tree) return std::nullopt;
  const JsonValue levels = JsonValue(*tree)["levels"];
  const bool own =
      levels && JsonValue(*tree)["nodes"].is_array() && !(levels.is_array() && levels.empty());
  return own ? std::optional(*std::move(tree)) : std::nullopt;
}

bool gives_free(JsonValue node) { return node["free"] || node["machine"]; }

Result<void> check_free(JsonValue nodes, std::optional<std::int64_t> free,
                        std::vector<std::string>& warnings) {
  const std::size_t size = nodes.size();
  const auto given =
      static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), gives_free));
  if (free && given == size) {
    warnings.emplace_back("--free has no effect: the file gives the free chips of each node");
  } else if (!free && given == 0 && size > 0) {
    return network_error("--free is required: the file does not give the free chips of its nodes");
  } else if (!free && given < size) {
    warnings.push_back("the file does not give the free chips of " + std::to_string(size - given) +
                       " of " + std::to_string(size) +
                       " nodes: they count as 0, unless --free is given");
  }
  return {};
}

void write_node(JsonValue node, std::optional<std::int64_t> free, JsonWriter& out) {
  if (!free || !node.is_object() || gives_free(node)) {
    out.reformatted(node.raw());
    return;
  }
  out.begin_object();
  for (const JsonValue member : node) out.key(member.name()).reformatted(member.raw());
  out.key("free").integer(*free).end_object();
}

}  // namespace

Result<ImportedNetwork> import_levelled_network(std::string_view content,
                                                const NetworkImportOptions& options) {
  Result<ImportedNetwork> out = import_network(content, options);
  if (!out || !out->table.levels.empty()) return out;
  domain::NetworkTable& table = out->table;
  if (table.accelerator_levels.empty()) {
    return network_error("the network has no levels, so that no node is near another");
  }
  table.levels = std::exchange(table.accelerator_levels, {});
  for (domain::NetworkNode& node : table.nodes) node.path = std::exchange(node.accelerator, {});
  out->warnings.push_back("the levels are those of the accelerators' interconnect, " +
                          joined(table.levels, ", ") + "; the file has no others");
  return out;
}

Result<PlanNetwork> plan_network(std::string_view content, const NetworkImportOptions& options,
                                 std::optional<std::int64_t> free) {
  PlanNetwork out;
  std::optional<JsonTree> tree = own_json(content, options);
  if (!tree) {
    Result<ImportedNetwork> imported = import_levelled_network(content, options);
    if (!imported) return std::move(imported).error();
    out.warnings = std::move(imported->warnings);
    Result<JsonTree> read = parse_json(export_network_json(imported->table, {}), kPlanLimits);
    if (!read) return std::move(read).error();
    tree = *std::move(read);
  }
  const JsonValue network(*tree);
  if (auto good = check_free(network["nodes"], free, out.warnings); !good) {
    return std::move(good).error();
  }
  out.json = with_nodes(network, [&](JsonWriter& to, JsonValue node) {
    write_node(node, free, to);
    if (free && node.is_object() && !gives_free(node)) {
      out.with_free.emplace(node["name"].text());
    }
  });
  return out;
}

std::string with_nodes(JsonValue network, const std::function<void(JsonWriter&, JsonValue)>& write,
                       const std::function<void(JsonWriter&)>& append) {
  JsonWriter out;
  out.begin_object();
  for (const JsonValue member : network) {
    out.key(member.name());
    if (member.name() != "nodes") {
      out.reformatted(member.raw());
      continue;
    }
    out.begin_array();
    for (const JsonValue node : member) write(out, node);
    if (append) append(out);
    out.end_array();
  }
  return out.end_object().take();
}

}  // namespace chipweave::codec
