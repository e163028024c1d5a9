#include "cli/render_network.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "common/base/json_writer.hpp"

namespace chipweave::cli {
namespace {

// A domain is identified by its whole path. A path ends at the first unknown element.
template <class PathOf>
std::vector<LevelSummary> summarize_levels(const domain::NetworkTable& table,
                                           const std::vector<std::string>& levels,
                                           const PathOf& path_of) {
  std::vector<LevelSummary> out;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    LevelSummary one;
    one.name = levels[level];
    std::map<std::vector<std::string>, std::size_t> nodes;
    for (const domain::NetworkNode& node : table.nodes) {
      const std::vector<std::string>& path = path_of(node);
      const std::size_t length = std::min(level + 1, path.size());
      const auto end = path.begin() + static_cast<std::ptrdiff_t>(length);
      const bool known = length == level + 1 && std::find(path.begin(), end, "") == end;
      if (known) {
        ++nodes[{path.begin(), end}];
      } else {
        ++one.outside;
      }
    }
    std::vector<std::size_t> sizes;
    sizes.reserve(nodes.size());
    for (const auto& [unused, size] : nodes) sizes.push_back(size);
    std::sort(sizes.begin(), sizes.end());
    one.domains = sizes.size();
    if (!sizes.empty()) {
      one.smallest = sizes.front();
      one.median = sizes[(sizes.size() - 1) / 2];
      one.largest = sizes.back();
    }
    out.push_back(std::move(one));
  }
  return out;
}

std::string level_table(const std::vector<LevelSummary>& levels, const char* title) {
  using Align = Table::Align;
  Table table({{title},
               {"DOMAINS", Align::right},
               {"SMALLEST", Align::right},
               {"MEDIAN", Align::right},
               {"LARGEST", Align::right},
               {"OUTSIDE", Align::right}});
  for (const LevelSummary& level : levels) {
    table.add({level.name, std::to_string(level.domains), std::to_string(level.smallest),
               std::to_string(level.median), std::to_string(level.largest),
               std::to_string(level.outside)});
  }
  return table.text(colour_wanted());
}

void append_levels(JsonWriter& json, const char* key, const std::vector<LevelSummary>& levels) {
  const auto number = [&json](const char* name, std::size_t value) {
    json.key(name).integer(static_cast<std::int64_t>(value));
  };
  json.key(key).begin_array();
  for (const LevelSummary& level : levels) {
    json.begin_object().field("name", level.name);
    number("domains", level.domains);
    number("smallest", level.smallest);
    number("median", level.median);
    number("largest", level.largest);
    number("outside", level.outside);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

NetworkSummary summarize(const domain::NetworkTable& table) {
  NetworkSummary out;
  out.nodes = table.nodes.size();
  out.levels = summarize_levels(
      table, table.levels,
      [](const domain::NetworkNode& node) -> const std::vector<std::string>& { return node.path; });
  out.accelerator_levels =
      summarize_levels(table, table.accelerator_levels,
                       [](const domain::NetworkNode& node) -> const std::vector<std::string>& {
                         return node.accelerator;
                       });
  for (const domain::NetworkNode& node : table.nodes) {
    if (!node.rails.empty()) ++out.nodes_with_rails;
    out.most_rails = std::max(out.most_rails, node.rails.size());
  }
  return out;
}

std::string render_network(const NetworkSummary& summary, const std::string& format) {
  std::string out = std::to_string(summary.nodes) + " nodes, read as " + format + "\n\n";
  if (summary.levels.empty()) {
    out += "no levels of the network between nodes\n";
  } else {
    out += level_table(summary.levels, "LEVEL");
  }
  if (!summary.accelerator_levels.empty()) {
    out += "\n" + level_table(summary.accelerator_levels, "ACCELERATOR LEVEL");
  }
  if (summary.nodes_with_rails > 0) {
    out += "\nrails: up to " + std::to_string(summary.most_rails) + ", known of " +
           std::to_string(summary.nodes_with_rails) + " nodes\n";
  }
  return out;
}

std::string network_summary_json(const NetworkSummary& summary, const std::string& format,
                                 const std::vector<std::string>& warnings) {
  JsonWriter json;
  json.begin_object().field("format", format);
  json.key("nodes").integer(static_cast<std::int64_t>(summary.nodes));
  append_levels(json, "levels", summary.levels);
  append_levels(json, "accelerator_levels", summary.accelerator_levels);
  json.key("rails").begin_object().key("nodes");
  json.integer(static_cast<std::int64_t>(summary.nodes_with_rails)).key("most");
  json.integer(static_cast<std::int64_t>(summary.most_rails)).end_object();
  json.key("warnings").begin_array();
  for (const std::string& warning : warnings) json.string(warning);
  json.end_array().end_object();
  return json.take() + "\n";
}

std::string render_network_nodes(const domain::NetworkTable& table) {
  std::vector<Table::Column> columns{{"NODE"}};
  for (const auto* levels : {&table.levels, &table.accelerator_levels}) {
    // Shows only the name of a label, without its prefix.
    for (const std::string& level : *levels) {
      columns.push_back({printable(level.substr(level.rfind('/') + 1))});
    }
  }
  Table out(std::move(columns));
  for (const domain::NetworkNode& node : table.nodes) {
    std::vector<std::string> cells{node.name};
    cells.insert(cells.end(), node.path.begin(), node.path.end());
    cells.insert(cells.end(), node.accelerator.begin(), node.accelerator.end());
    cells.resize(1 + table.levels.size() + table.accelerator_levels.size());
    for (std::string& cell : cells) {
      if (cell.empty()) cell = "-";
    }
    out.add(std::move(cells));
  }
  return out.text(colour_wanted());
}

}  // namespace chipweave::cli
