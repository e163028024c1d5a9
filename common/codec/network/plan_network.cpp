#include "common/codec/network/plan_network.hpp"

#include <cstddef>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/network/objects.hpp"

namespace chipweave::codec {
namespace {

// chipweave's own JSON keeps what only planners read (free, machine, max_pods …), and may be as
// large as a plan request. Null if it is something else; the importers report what.
Json own_json(std::string_view content, const NetworkImportOptions& options) {
  if (!options.levels.empty()) return nullptr;
  if (!options.format.empty() && options.format != "chipweave-json") return nullptr;
  constexpr std::string_view kBom = "\xEF\xBB\xBF";
  if (content.starts_with(kBom)) content.remove_prefix(kBom.size());
  const std::size_t start = content.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || content[start] != '{') return nullptr;
  Result<Json> value =
      parse_strict_json(content, {limits::kMaxPlanLineBytes, limits::kMaxPlanValues});
  if (!value) return nullptr;
  const Json* levels = json_at(*value, {"levels"});
  const Json* nodes = json_at(*value, {"nodes"});
  const bool own = levels != nullptr && nodes != nullptr && nodes->is_array() &&
                   !(levels->is_array() && levels->empty());
  return own ? *std::move(value) : Json();
}

Json json_of(const domain::NetworkTable& table) {
  Json nodes = Json::array();
  for (const domain::NetworkNode& node : table.nodes)
    nodes.push_back({{"name", node.name}, {"path", node.path}, {"accelerator", node.accelerator}});
  return {{"levels", table.levels},
          {"accelerator_levels", table.accelerator_levels},
          {"nodes", std::move(nodes)}};
}

std::string names_text(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

Result<void> give_free(Json& nodes, std::optional<std::int64_t> free,
                       std::vector<std::string>& warnings) {
  const auto says = [](const Json& node) {
    return json_at(node, {"free"}) != nullptr || json_at(node, {"machine"}) != nullptr;
  };
  std::size_t without = 0;
  for (const Json& node : nodes) without += says(node) ? 0U : 1U;
  if (free) {
    for (Json& node : nodes) {
      if (node.is_object() && !says(node)) node["free"] = *free;
    }
    if (without == 0)
      warnings.emplace_back("--free has no effect: the file gives the free chips of each node");
  } else if (without == nodes.size() && without > 0) {
    return network_error("is required: the file does not give the free chips of its nodes")
        .in("--free");
  } else if (without > 0) {
    warnings.push_back("the file does not give the free chips of " + std::to_string(without) +
                       " of " + std::to_string(nodes.size()) +
                       " nodes: they count as 0, unless --free is given");
  }
  return {};
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
                          names_text(table.levels) + "; the file has no others");
  return out;
}

Result<PlanNetwork> plan_network(std::string_view content, const NetworkImportOptions& options,
                                 std::optional<std::int64_t> free) {
  PlanNetwork out;
  Json network = own_json(content, options);
  if (network.is_null()) {
    Result<ImportedNetwork> imported = import_levelled_network(content, options);
    if (!imported) return std::move(imported).error();
    network = json_of(imported->table);
    out.warnings = std::move(imported->warnings);
  }
  if (auto given = give_free(network["nodes"], free, out.warnings); !given) {
    return std::move(given).error();
  }
  out.json = network.dump(-1, ' ', false, Json::error_handler_t::replace);
  return out;
}

}  // namespace chipweave::codec
