#include "cli/topology_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/table.hpp"
#include "common/base/foreign_text.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::cli {
namespace {

using domain::LinkKind;
using domain::NodeTopology;

constexpr std::size_t kColumnGap = 2;
constexpr const char* kUnknown = "N/A";

std::string_view chip_word(const NodeTopology& topology) {
  return topology.vendor().empty() ? "CHIP" : domain::vendor_of(topology).chip_word;
}

std::string direct_cell(const domain::DirectLink& link) {
  const std::string down = link.lanes_down > 0 ? "*" : "";
  switch (link.kind) {
    case LinkKind::nvlink:
    case LinkKind::nvswitch:
      return fmt::format("NV{}{}", link.lanes_up(), down);
    case LinkKind::xgmi:
      return fmt::format("XGMI{}{}", link.lanes_up(), down);
    case LinkKind::metaxlink:
      return fmt::format("MXL{}{}", link.lanes_up(), down);
    default:
      return std::string(domain::to_string(link.kind)) + down;
  }
}

std::string switch_cell(LinkKind kind, int lanes) {
  switch (kind) {
    case LinkKind::nvlink:
    case LinkKind::nvswitch:
      return fmt::format("NV{}", lanes);
    case LinkKind::metaxlink:
      return fmt::format("MXL{}", lanes);
    case LinkKind::xgmi:
      return fmt::format("XGMI{}", lanes);
    default:
      return std::string(domain::to_string(kind)) + "_SW";
  }
}

const domain::SwitchPort* port_of(const domain::Switch& fabric, int slot) {
  for (const domain::SwitchPort& port : fabric.ports) {
    if (port.slot == slot) return &port;
  }
  return nullptr;
}

struct Column {
  std::string title;
  std::vector<std::string> cells;  // by slot
  std::size_t width() const {
    std::size_t out = title.size();
    for (const std::string& text : cells) out = std::max(out, text.size());
    return out;
  }
};

std::string chip_name(const NodeTopology& topology, int slot) {
  return fmt::format("{}{}", chip_word(topology), topology.chip(slot).index.value);
}

// Chips and adapters have the same width.
std::vector<Column> link_columns(const NodeTopology& topology, std::set<std::string>& words) {
  const int chips = topology.chip_count();
  std::vector<Column> out;
  for (int b = 0; b < chips; ++b) {
    Column column{chip_name(topology, b), {}};
    for (int a = 0; a < chips; ++a) column.cells.push_back(cell(topology, a, b));
    out.push_back(std::move(column));
  }
  for (const domain::Nic& nic : topology.nics()) {
    Column column{fmt::format("NIC{}", out.size() - static_cast<std::size_t>(chips)), {}};
    for (const LinkKind path : nic.paths) column.cells.emplace_back(domain::to_string(path));
    out.push_back(std::move(column));
  }
  for (const Column& column : out) words.insert(column.cells.begin(), column.cells.end());
  return out;
}

std::vector<Column> affinity_columns(const NodeTopology& topology, const MatrixLayout& layout) {
  Column cpus{"CPU Affinity", {}};
  Column numa{"NUMA Affinity", {}};
  for (const domain::Chip& chip : topology.chips()) {
    const auto at = layout.cpus.find(chip.index.value);
    cpus.cells.push_back(at == layout.cpus.end() ? kUnknown : printable(at->second));
    const bool known = layout.numa_stated && chip.numa >= 0;
    numa.cells.push_back(known ? std::to_string(chip.numa) : kUnknown);
  }
  return {std::move(cpus), std::move(numa)};
}

// One block of columns, with the names of the rows in front.
std::string block_text(const std::vector<std::string>& names, std::size_t name_width,
                       const std::vector<std::pair<const Column*, std::size_t>>& columns) {
  std::string header(name_width, ' ');
  for (const auto& [column, width] : columns) header += fmt::format("{:<{}}", column->title, width);
  trim_right(header);
  std::string out = header + "\n";
  for (std::size_t row = 0; row < names.size(); ++row) {
    std::string line = fmt::format("{:<{}}", names[row], name_width);
    for (const auto& [column, width] : columns)
      line += fmt::format("{:<{}}", column->cells[row], width);
    trim_right(line);
    out += line + "\n";
  }
  return out;
}

}  // namespace

std::string cell(const NodeTopology& topology, int slot_a, int slot_b) {
  if (slot_a == slot_b) return "X";
  const domain::DirectLink* link = topology.link(slot_a, slot_b);
  if (link != nullptr && link->lanes_up() > 0) return direct_cell(*link);
  for (const domain::Switch& fabric : topology.switches()) {
    const domain::SwitchPort* a = port_of(fabric, slot_a);
    const domain::SwitchPort* b = port_of(fabric, slot_b);
    if (a == nullptr || b == nullptr) continue;
    const int lanes = std::min(a->lanes_up(), b->lanes_up());
    if (lanes == 0) continue;
    return switch_cell(fabric.kind, lanes) + (a->lanes_down + b->lanes_down > 0 ? "*" : "");
  }
  return std::string(domain::to_string(topology.host_path(slot_a, slot_b)));
}

TopologyMatrix topology_matrix(const NodeTopology& topology, const MatrixLayout& layout) {
  TopologyMatrix out;
  const std::vector<Column> links = link_columns(topology, out.words);
  const std::vector<Column> affinity = affinity_columns(topology, layout);
  std::size_t link_width = 0;
  for (const Column& column : links) link_width = std::max(link_width, column.width() + kColumnGap);
  std::vector<std::pair<const Column*, std::size_t>> columns;
  columns.reserve(links.size() + affinity.size());
  for (const Column& column : links) columns.emplace_back(&column, link_width);
  for (const Column& column : affinity) columns.emplace_back(&column, column.width() + kColumnGap);

  std::vector<std::string> names;
  names.reserve(topology.chips().size());
  for (int slot = 0; slot < topology.chip_count(); ++slot)
    names.push_back(chip_name(topology, slot));
  constexpr std::size_t kLeastNameWidth = 8;
  const std::size_t name_width = std::max(kLeastNameWidth, names.back().size() + kColumnGap);

  std::vector<std::pair<const Column*, std::size_t>> block;
  std::size_t width = name_width;
  for (const auto& column : columns) {
    const std::size_t without_gap = column.second - kColumnGap;
    if (!block.empty() && width + without_gap > layout.columns) {
      out.text += block_text(names, name_width, block) + "\n";
      block.clear();
      width = name_width;
    }
    block.push_back(column);
    width += column.second;
  }
  out.text += block_text(names, name_width, block);
  return out;
}

}  // namespace chipweave::cli
