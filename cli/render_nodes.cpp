#include "cli/render_nodes.hpp"

#include "cli/table.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

bool is_note(const codec::FaultView& fault) { return fault.effect == "note"; }

std::string lanes_word(int lanes) {
  return std::to_string(lanes) + (lanes == 1 ? " lane" : " lanes");
}

std::string node_lines(const std::vector<codec::NodeView>& nodes, bool colours) {
  Table table({{"NODE"},
               {"MACHINE"},
               {"CHIPS", Table::Align::right},
               {"FREE"},
               {"UNHEALTHY"},
               {"PODS", Table::Align::right}});
  for (const codec::NodeView& node : nodes) {
    table.add({node.name, node.machine, std::to_string(node.chips), chip_list(node.free),
               chip_list(node.unhealthy), std::to_string(node.used.size())},
              node.unhealthy.empty() ? Colour::none : Colour::yellow);
  }
  return table.text(colours);
}

// Those of effect; "" if there are none.
std::string fault_table(const std::vector<codec::NodeView>& nodes, bool colours) {
  constexpr std::size_t kTextColumn = 5;
  Table table({{"NODE"}, {"EFFECT"}, {"WHERE"}, {"FAULT"}, {"SINCE"}, {"TEXT"}}, kTextColumn);
  bool any = false;
  for (const codec::NodeView& node : nodes) {
    for (const codec::FaultView& fault : node.faults) {
      if (is_note(fault)) continue;
      any = true;
      table.add({node.name, fault.effect, fault.where, fault.code, fault.since, fault.text},
                Colour::yellow);
    }
  }
  return any ? "\n" + table.text(colours) : "";
}

// A table of all faults, each with its full text below.
std::string fault_list(const codec::NodeView& node, bool colours) {
  Table table({{"EFFECT"}, {"WHERE"}, {"FAULT"}, {"SINCE"}});
  for (const codec::FaultView& fault : node.faults) {
    table.add({fault.effect, fault.where, fault.code, fault.since},
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
             std::to_string(link.b.value) + " (" + lanes_word(link.lanes.value_or(0)) + ")";
  }
  std::string ports;
  for (const codec::DownPortView& port : node.down_ports) {
    ports += (ports.empty() ? "" : ", ") + std::to_string(port.chip) + " to " + port.by_switch +
             " (" + lanes_word(port.lanes) + ")";
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

std::string render_nodes(const std::vector<codec::NodeView>& nodes, bool colours) {
  return node_lines(nodes, colours) + fault_table(nodes, colours);
}

std::string render_node(const codec::NodeView& node, bool colours) {
  return node_lines({node}, colours) + parts_line(node) + down_lines(node) +
         fault_list(node, colours);
}

}  // namespace chipweave::cli
