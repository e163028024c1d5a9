#include "cli/views/nodes_view.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "cli/place/chip_use.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/views/age_column.hpp"
#include "common/base/age.hpp"
#include "common/base/count_of.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

using Time = std::chrono::system_clock::time_point;

bool is_note(const codec::FaultView& fault) { return fault.effect == "note"; }

bool is_ready(const codec::NodeView& node) { return !node.stale && !node.closed; }

// How long ago its agent was heard.
std::string seen_text(const codec::NodeView& node) {
  if (!node.age) return "never";
  return age_text(std::chrono::seconds(static_cast<std::int64_t>(*node.age)));
}

std::string node_lines(const std::vector<codec::NodeView>& nodes, bool wide, bool colours) {
  std::vector<Table::Column> columns{{"NODE"},
                                     {"STATUS"},
                                     {"MACHINE"},
                                     {"CHIPS", Table::Align::right},
                                     {"FREE"},
                                     {"UNHEALTHY"},
                                     {"PODS", Table::Align::right},
                                     {"SEEN"}};
  if (wide) columns.insert(columns.end(), {{"ENFORCEMENT"}, {"RESOURCES"}});
  Table table(std::move(columns));
  for (const codec::NodeView& node : nodes) {
    std::vector<std::string> cells{node.name,
                                   is_ready(node) ? "Ready" : "NotReady",
                                   node.machine.empty() ? "-" : node.machine,
                                   std::to_string(node.chips),
                                   chip_list(node.free),
                                   node.stale ? "unknown" : chip_list(node.unhealthy),
                                   std::to_string(node.used.size()),
                                   seen_text(node)};
    if (wide)
      cells.insert(cells.end(), {node.enforcement.empty() ? "-" : node.enforcement,
                                 joined(node.resources, ",")});
    table.add(std::move(cells),
              is_ready(node) && node.unhealthy.empty() ? Colour::none : Colour::yellow);
  }
  return table.text(colours);
}

// Why a node takes no pods; "" if it does.
std::string not_ready_line(const codec::NodeView& node) {
  std::string why;
  if (node.stale)
    why = node.age ? "its agent has not reported for " + seen_text(node) +
                         ", so no chip is offered and the health of those in use is not known; see "
                         "the chipweave-agent pod of this node"
                   : "no agent has reported from it; it is known by the pods that are bound to it";
  else if (node.closed)
    why = "its device plugin is not ready, so it gets no new pods with chips";
  return why.empty() ? why : "\n" + wrapped("NotReady: " + why, 2) + "\n";
}

std::string nic_names(const domain::NodeTopology& topology, int slot) {
  std::vector<std::string> names;
  for (const NearNic& nic : nearest_nics(topology, slot)) names.push_back(nic.name);
  return names.empty() ? "-" : joined(names, ",");
}

std::string links_down(const codec::NodeView& node, int chip) {
  std::vector<std::string> out;
  for (const domain::DownLink& link : node.down_links) {
    if (link.a.value == chip || link.b.value == chip)
      out.push_back("to " + std::to_string(link.a.value == chip ? link.b.value : link.a.value));
  }
  for (const codec::DownPortView& port : node.down_ports) {
    if (port.chip == chip) out.push_back("to " + port.by_switch);
  }
  return out.empty() ? "-" : joined(out, ", ");
}

std::string health_of(const codec::NodeView& node, const domain::Chip& chip) {
  if (node.stale) return "unknown";
  const int index = chip.index.value;
  const bool bad =
      std::find(node.unhealthy.begin(), node.unhealthy.end(), index) != node.unhealthy.end();
  if (bad || chip.health == domain::Health::unhealthy) return "unhealthy";
  return chip.health == domain::Health::network_unhealthy ? "no network" : "healthy";
}

std::string chip_table(const codec::NodeView& node, const domain::NodeTopology& topology,
                       bool colours) {
  std::map<int, std::string> pods;
  for (const auto& [pod, chips] : node.used) {
    for (const int chip : chips) pods[chip] += (pods[chip].empty() ? "" : ",") + pod;
  }
  Table table({{"CHIP", Table::Align::right},
               {"POD"},
               {"HEALTH"},
               {"NUMA", Table::Align::right},
               {"NEAREST NIC"},
               {"LINKS DOWN"}},
              1);
  for (int slot = 0; slot < topology.chip_count(); ++slot) {
    const domain::Chip& chip = topology.chip(slot);
    const auto pod = pods.find(chip.index.value);
    const std::string health = health_of(node, chip);
    table.add({std::to_string(chip.index.value), pod == pods.end() ? "-" : pod->second, health,
               chip.numa < 0 ? "-" : std::to_string(chip.numa), nic_names(topology, slot),
               links_down(node, chip.index.value)},
              health == "healthy" ? Colour::none : Colour::yellow);
  }
  return "\n" + table.text(colours);
}

// Those of effect; "" if there are none.
std::string fault_table(const std::vector<codec::NodeView>& nodes, bool colours, Time now) {
  constexpr std::size_t kTextColumn = 5;
  Table table({{"NODE"}, {"EFFECT"}, {"WHERE"}, {"FAULT"}, {"AGE"}, {"TEXT"}}, kTextColumn);
  bool any = false;
  for (const codec::NodeView& node : nodes) {
    for (const codec::FaultView& fault : node.faults) {
      if (is_note(fault)) continue;
      any = true;
      table.add({node.name, fault.effect, fault.where, fault.code, age_since(fault.since, now),
                 fault.text},
                Colour::yellow);
    }
  }
  return any ? "\n" + table.text(colours) : "";
}

// A table of all faults, each with its full text below.
std::string fault_list(const codec::NodeView& node, bool colours, Time now) {
  Table table({{"EFFECT"}, {"WHERE"}, {"FAULT"}, {"AGE"}, {"SINCE"}});
  for (const codec::FaultView& fault : node.faults) {
    table.add({fault.effect, fault.where, fault.code, age_since(fault.since, now), fault.since},
              is_note(fault) ? Colour::none : Colour::yellow);
    table.add_text(fault.text);
  }
  return node.faults.empty() ? "" : "\n" + table.text(colours);
}

// "\nlinks down: 0-3 (2 lanes)\n…"; "" if nothing is down.
std::string down_lines(const codec::NodeView& node) {
  std::string links;
  for (const domain::DownLink& link : node.down_links) {
    links += (links.empty() ? "" : ", ") + std::to_string(link.a.value) + "-" +
             std::to_string(link.b.value) + " (" + count_of(link.lanes.value_or(0), "lane") + ")";
  }
  std::string ports;
  for (const codec::DownPortView& port : node.down_ports) {
    ports += (ports.empty() ? "" : ", ") + std::to_string(port.chip) + " to " + port.by_switch +
             " (" + count_of(port.lanes, "lane") + ")";
  }
  std::string out;
  for (const auto& [what, which] : {std::pair("links", links), std::pair("switch ports", ports),
                                    std::pair("NICs", joined(node.down_nics, ", "))}) {
    if (!which.empty()) out += wrapped(std::string(what) + " down: " + which, 2) + "\n";
  }
  return out.empty() ? out : "\n" + out;
}

// Which pods use parts of chips; "" if none does.
std::string parts_line(const codec::NodeView& node) {
  if (node.pods_with_parts.empty()) return "";
  return "\n" +
         wrapped("parts of chips " + chip_list(node.chips_in_parts) +
                     " are in use, so these are not offered: " + joined(node.pods_with_parts, ", "),
                 2) +
         "\n";
}

}  // namespace

std::string render_nodes(const std::vector<codec::NodeView>& nodes, bool wide, bool colours,
                         Time now) {
  return node_lines(nodes, wide, colours) + fault_table(nodes, colours, now);
}

std::string render_node(const codec::NodeView& node, const domain::NodeTopology* topology,
                        bool colours, Time now) {
  return node_lines({node}, true, colours) + not_ready_line(node) +
         (topology == nullptr ? std::string() : chip_table(node, *topology, colours)) +
         parts_line(node) + down_lines(node) + fault_list(node, colours, now);
}

std::vector<codec::NodeView> changed_nodes(const std::vector<codec::NodeView>& before,
                                           const std::vector<codec::NodeView>& now) {
  const auto key = [](const codec::NodeView& node) {
    return std::tie(node.machine, node.chips, node.free, node.unhealthy, node.used, node.stale,
                    node.closed);
  };
  std::map<std::string_view, const codec::NodeView*> known;
  for (const codec::NodeView& node : before) known[node.name] = &node;
  std::vector<codec::NodeView> out;
  for (const codec::NodeView& node : now) {
    const auto at = known.find(node.name);
    if (at == known.end() || key(*at->second) != key(node)) out.push_back(node);
  }
  return out;
}

}  // namespace chipweave::cli
