// DLRover's lines, MindCluster's tor_info, topograph's graph, CSV.
#include <algorithm>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"
#include "common/codec/network/exporters.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr int kChipsOfServer = 8;

void warn_of_coarser(const NetworkExport& from, std::size_t kept) {
  const std::vector<std::string>& levels = from.table.levels;
  for (std::size_t i = 0; i + kept < levels.size(); ++i) {
    from.warnings.add("level " + quoted_excerpt(levels[i]) + " is left out");
  }
}

void warn_of_outside(const NetworkExport& from, std::size_t nodes) {
  if (nodes == 0) return;
  from.warnings.add(std::to_string(nodes) + " nodes without a known leaf are left out");
}

bool is_address(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789abcdefABCDEF.:") == std::string_view::npos;
}

// Quoted where a CSV reader would cut it.
std::string csv_field(const std::string& text) {
  const bool plain =
      text.find_first_of(",;\t\"#") == std::string::npos && trim(text).size() == text.size();
  if (plain) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// Names of the two domains that DLRover's lines hold: the finest, and the one above it.
struct LeafAndSpine {
  std::string leaf;
  std::string spine;
};

LeafAndSpine last_two(const DomainTree& tree, std::size_t home) {
  const DomainTree::Domain& leaf = tree.domains()[home];
  if (leaf.parent == DomainTree::kNone) return {leaf.name, leaf.name};
  return {leaf.name, tree.domains()[leaf.parent].name};
}

}  // namespace

Result<std::string> export_dlrover(const NetworkExport& from) {
  warn_of_coarser(from, 2);
  warn_of_rails(from);
  warn_of_accelerator(from);
  warn_of_level_names(from);
  if (from.table.levels.size() < 2) {
    from.warnings.add("the network has one level: leaves are also written as their own spines");
  }
  std::string out;
  const auto one_word = [](const std::string& name) -> Result<void> {
    if (name.find_first_of(" \t#") == std::string::npos) return {};
    return network_error(quoted_excerpt(name) + " has blanks or a #, which DLRover's lines " +
                         "cannot hold; rename it");
  };
  for (std::size_t i = 0; i < from.table.nodes.size(); ++i) {
    if (from.tree.home(i) == DomainTree::kNone) continue;
    const LeafAndSpine at = last_two(from.tree, from.tree.home(i));
    for (const std::string* name : {&at.leaf, &at.spine, &from.table.nodes[i].name}) {
      if (auto good = one_word(*name); !good) return std::move(good).error();
    }
    out += at.leaf + " " + at.spine + " " + from.table.nodes[i].name + "\n";
  }
  warn_of_outside(from, from.tree.outside().size());
  return out;
}

Result<std::string> export_tor_info(const NetworkExport& from) {
  warn_of_coarser(from, 1);
  warn_of_rails(from);
  warn_of_accelerator(from);
  warn_of_outside(from, from.tree.outside().size());
  std::size_t no_addresses = 0;
  std::size_t tors = 0;
  JsonWriter list;
  list.begin_array();
  for (const DomainTree::Domain& domain : from.tree.domains()) {
    if (domain.nodes.empty()) continue;
    if (!is_address(domain.name)) ++no_addresses;
    list.begin_object().key("tor_id").integer(static_cast<std::int64_t>(tors++));
    list.field("tor_ip", domain.name).key("server").begin_array();
    for (std::size_t i = 0; i < domain.nodes.size(); ++i) {
      const std::string& name = from.table.nodes[domain.nodes[i]].name;
      if (!is_address(name)) ++no_addresses;
      list.begin_object().field("server_ip", name).key("npu_count").integer(kChipsOfServer);
      list.key("slice_id").integer(static_cast<std::int64_t>(i)).end_object();
    }
    list.end_array().end_object();
  }
  list.end_array();
  from.warnings.add("npu_count is unknown and written as " + std::to_string(kChipsOfServer));
  if (no_addresses > 0) {
    from.warnings.add(std::to_string(no_addresses) +
                      " names are not addresses, which MindCluster expects in tor_ip and "
                      "server_ip");
  }
  JsonWriter out;
  out.begin_object().field("version", "1.0").key("tor_count");
  out.integer(static_cast<std::int64_t>(tors)).key("server_list").raw(list.text()).end_object();
  return out.take() + "\n";
}

Result<std::string> export_topograph(const NetworkExport& from) {
  warn_of_rails(from);
  warn_of_level_names(from);
  const std::vector<std::string> labels{"accelerator.topograph.run/domain",
                                        "accelerator.topograph.run/sub-domain"};
  if (from.table.accelerator_levels.size() > labels.size()) {
    from.warnings.add("levels of the accelerators below the second are left out");
  }
  JsonWriter json;
  json.begin_object().key("instances").begin_array();
  for (std::size_t i = 0; i < from.table.nodes.size(); ++i) {
    const domain::NetworkNode& node = from.table.nodes[i];
    json.on_new_line().begin_object().field("id", node.name).key("network_layers").begin_array();
    for (std::size_t at = from.tree.home(i); at != DomainTree::kNone;
         at = from.tree.domains()[at].parent) {
      json.string(from.tree.domains()[at].name);
    }
    json.end_array();
    if (!node.accelerator.empty()) {
      json.key("labels").begin_object();
      for (std::size_t k = 0; k < std::min(labels.size(), node.accelerator.size()); ++k) {
        if (!node.accelerator[k].empty()) json.field(labels[k], node.accelerator[k]);
      }
      json.end_object();
    }
    json.end_object();
  }
  return json.on_new_line().end_array().end_object().take() + "\n";
}

Result<std::string> export_network_csv(const NetworkExport& from) {
  const bool rails = std::any_of(from.table.nodes.begin(), from.table.nodes.end(),
                                 [](const auto& node) { return !node.rails.empty(); });
  std::vector<std::string> cells{"name"};
  for (const std::string& level : from.table.levels) {
    const std::string lower = lower_case(level);
    if (lower == "rails" || lower.starts_with("accelerator")) {
      return network_error("level " + quoted_excerpt(level) +
                           " has the name of another CSV column; rename it");
    }
    cells.push_back(csv_field(level));
  }
  for (const std::string& level : from.table.accelerator_levels) {
    cells.push_back(csv_field("accelerator:" + level));
  }
  if (rails) cells.emplace_back("rails");
  if (cells.size() == 1) return network_error("the network has no levels; CSV needs one");
  std::string out = joined(cells, ",") + "\n";
  for (const domain::NetworkNode& node : from.table.nodes) {
    cells = {csv_field(node.name)};
    for (const std::string& element : node.path) cells.push_back(csv_field(element));
    for (std::size_t i = 0; i < from.table.accelerator_levels.size(); ++i) {
      cells.push_back(node.accelerator.empty() ? "" : csv_field(node.accelerator[i]));
    }
    if (rails) cells.push_back(csv_field(joined(node.rails, "|")));
    out += joined(cells, ",") + "\n";
  }
  return out;
}

}  // namespace chipweave::codec
