#include "cli/render_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "cli/terminal.hpp"
#include "common/base/text.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::cli {
namespace {

using domain::ChipSet;
using domain::LinkKind;
using domain::NodeTopology;

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

struct Meaning {
  const char* start;  // of the cells it explains
  const char* text;
};
constexpr std::array kMeanings{
    Meaning{"NV", "NV# = that many NVLink lanes"},
    Meaning{"XGMI", "XGMI# = that many Infinity Fabric links"},
    Meaning{"HCCS_SW", "HCCS_SW = HCCS through switches"},
    Meaning{"HCCS", "HCCS = direct HCCS link"},
    Meaning{"SIO", "SIO = two dies of one module"},
    Meaning{"UB", "UB = unified bus"},
    Meaning{"MXL", "MXL# = that many MetaXLink lanes"},
    Meaning{"BOARD", "BOARD = one card"},
    Meaning{"PIX", "PIX = one PCIe bridge"},
    Meaning{"PXB", "PXB = several PCIe bridges"},
    Meaning{"PHB", "PHB = PCIe host bridge"},
    Meaning{"NODE", "NODE = between host bridges of a NUMA node"},
    Meaning{"SYS", "SYS = between NUMA nodes"},
};

std::string legend(const std::set<std::string>& words) {
  std::set<const char*> used;
  bool degraded = false;
  for (const std::string& word : words) {
    degraded = degraded || word.ends_with('*');
    for (const Meaning& meaning : kMeanings) {
      if (!word.starts_with(meaning.start)) continue;
      used.insert(meaning.start);
      break;
    }
  }
  std::string out = "X = self";
  for (const Meaning& meaning : kMeanings) {
    if (used.contains(meaning.start)) out += std::string(", ") + meaning.text;
  }
  if (degraded) out += ", * = some lanes are down";
  return wrapped("  " + out, 2) + "\n";
}

// The last column of the matrix: NUMA nodes, or the CPUs where the file prints these instead.
struct Affinity {
  std::string_view title = "NUMA";
  std::vector<std::string> cells;  // by slot
  std::size_t width() const {
    std::size_t out = title.size();
    for (const std::string& text : cells) out = std::max(out, text.size());
    return out;
  }
};

Affinity affinity_of(const NodeTopology& topology, const std::map<int, std::string>& cpus) {
  constexpr std::size_t kMostCpus = 24;
  Affinity out;
  if (!cpus.empty()) out.title = "CPUS";
  for (const domain::Chip& chip : topology.chips()) {
    const auto at = cpus.find(chip.index.value);
    if (at != cpus.end()) {
      out.cells.emplace_back(shortened(at->second, kMostCpus));
    } else {
      out.cells.push_back(chip.numa < 0 || !cpus.empty() ? "-" : std::to_string(chip.numa));
    }
  }
  return out;
}

// One block of columns [from, to) of the matrix; the last one has the affinity.
void add_block(const NodeTopology& topology, const std::vector<std::vector<std::string>>& cells,
               const Affinity& affinity, std::size_t from, std::size_t to, std::size_t width,
               std::string& out) {
  const std::string_view word = chip_word(topology);
  const auto n = cells.size();
  const auto name = [&](std::size_t slot) {
    return fmt::format("{}{}", word, topology.chip(static_cast<int>(slot)).index.value);
  };
  std::string header = fmt::format("{:<8}", "");
  for (std::size_t b = from; b < to; ++b) header += fmt::format("{:<{}}", name(b), width);
  if (to == n) header += affinity.title;
  header.erase(header.find_last_not_of(' ') + 1);
  out += header + "\n";
  for (std::size_t a = 0; a < n; ++a) {
    std::string line = fmt::format("{:<8}", name(a));
    for (std::size_t b = from; b < to; ++b) line += fmt::format("{:<{}}", cells[a][b], width);
    if (to == n) line += affinity.cells[a];
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
}

std::string matrix(const NodeTopology& topology, const std::map<int, std::string>& cpus,
                   std::set<std::string>& words) {
  const Affinity affinity = affinity_of(topology, cpus);
  const int n = topology.chip_count();
  std::vector<std::vector<std::string>> cells(static_cast<std::size_t>(n));
  // The last chip has the longest name: indices ascend.
  std::size_t width =
      fmt::format("{}{}", chip_word(topology), topology.chip(n - 1).index.value).size();
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) {
      cells[static_cast<std::size_t>(a)].push_back(cell(topology, a, b));
      const std::string& text = cells[static_cast<std::size_t>(a)].back();
      width = std::max(width, text.size());
      words.insert(text);
    }
  }
  width += 2;
  constexpr std::size_t kRowName = 8;
  const std::size_t block = (kMaxColumns - kRowName - affinity.width()) / width;
  const auto count = static_cast<std::size_t>(n);
  std::string out;
  for (std::size_t from = 0; from < count; from += block) {
    if (from > 0) out += "\n";
    add_block(topology, cells, affinity, from, std::min(from + block, count), width, out);
  }
  return out;
}

std::string count_of(std::size_t count, const char* one, const char* many) {
  return count == 0 ? fmt::format("no {}", one)
                    : fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string summary(const NodeTopology& topology, const TopologyPage& page) {
  std::set<int> numa;
  for (const domain::Chip& chip : topology.chips()) {
    if (chip.numa >= 0) numa.insert(chip.numa);
  }
  std::map<LinkKind, std::size_t> pairs;
  for (const domain::DirectLink& link : topology.links()) ++pairs[link.kind];
  std::string links;
  for (const auto& [kind, count] : pairs) {
    links +=
        fmt::format(", {} {} {}", count, domain::to_string(kind), count == 1 ? "pair" : "pairs");
  }
  std::string machine = topology.vendor();
  if (!topology.model().empty()) machine += (machine.empty() ? "" : " ") + topology.model();
  if (machine.empty()) machine = "unknown model";
  return wrapped(
             fmt::format("{}: {}, {}{}{}, {}, {}", page.title, machine,
                         count_of(static_cast<std::size_t>(topology.chip_count()), "chip", "chips"),
                         numa.empty() ? std::string()
                         : page.cpus.empty()
                             ? " on " + count_of(numa.size(), "NUMA node", "NUMA nodes")
                             : " at " + count_of(numa.size(), "range of CPUs", "ranges of CPUs"),
                         links.empty() ? ", no direct links" : links,
                         count_of(topology.switches().size(), "switch", "switches"),
                         count_of(topology.nics().size(), "NIC", "NICs")),
             2) +
         "\n";
}

// "NVLINK 20 a lane; host paths PIX 10, PHB 10, SYS 5": only what this machine has.
std::string rates(const NodeTopology& topology) {
  std::map<LinkKind, std::set<double>> lanes;
  for (const domain::DirectLink& link : topology.links()) {
    lanes[link.kind].insert(link.gbps_per_lane);
  }
  for (const domain::Switch& fabric : topology.switches()) {
    lanes[fabric.kind].insert(fabric.gbps_per_lane);
  }
  std::string out;
  for (const auto& [kind, values] : lanes) {
    std::string list;
    for (const double value : values) list += (list.empty() ? "" : " or ") + gbps_text(value);
    out += fmt::format("{}{} {} a lane", out.empty() ? "" : ", ", domain::to_string(kind), list);
  }
  std::set<LinkKind> paths;
  for (int a = 0; a < topology.chip_count(); ++a) {
    for (int b = 0; b < a; ++b) paths.insert(topology.host_path(a, b));
  }
  std::string host;
  for (const LinkKind kind : paths) {
    host += fmt::format("{} {} {}", host.empty() ? "" : ",", domain::to_string(kind),
                        gbps_text(topology.host_bandwidth().of(kind)));
  }
  if (!host.empty()) out += (out.empty() ? "host paths" : "; host paths") + host;
  if (out.empty()) return {};
  return wrapped("GB/s one way: " + out + (topology.p2p() ? "" : ", staged in host memory"), 2) +
         "\n";
}

// " 1, 2,3 (40), 4,6-8 (80)": by rising bandwidth, sizes with the same figure together.
std::string size_line(const std::vector<std::pair<int, double>>& sizes) {
  if (sizes.empty()) return {};
  std::map<double, std::vector<int>> by_gbps;
  for (const auto& [size, gbps] : sizes) by_gbps[size > 1 ? gbps : 0].push_back(size);
  std::string out;
  for (const auto& [gbps, list] : by_gbps) {
    out += (out.empty() ? " " : ", ") + chip_list(list);
    if (gbps > 0) out += fmt::format(" ({})", gbps_text(gbps));
  }
  return wrapped("Sizes a pod can ask for (best ring GB/s):" + out, 2) + "\n";
}

std::string island_line(const NodeTopology& topology) {
  std::string out;
  for (const ChipSet island : islands(topology)) {
    if (island.size() < 2) continue;
    out += (out.empty() ? " " : " | ") + chip_list(topology.indices(island));
  }
  return wrapped("Fast islands:" + (out.empty() ? std::string(" none") : out), 2) + "\n";
}

std::string switch_lines(const NodeTopology& topology) {
  std::string out;
  for (const domain::Switch& fabric : topology.switches()) {
    std::set<int> lanes;
    for (const domain::SwitchPort& port : fabric.ports) lanes.insert(port.lanes_up());
    if (lanes.empty()) continue;
    const std::string per_chip = *lanes.begin() == *lanes.rbegin()
                                     ? std::to_string(*lanes.begin())
                                     : fmt::format("{} to {}", *lanes.begin(), *lanes.rbegin());
    out += wrapped(fmt::format("Switch {} ({}): chips {}, {} lanes a chip", fabric.name,
                               domain::to_string(fabric.kind),
                               chip_list(topology.indices(fabric.members())), per_chip),
                   2) +
           "\n";
  }
  return out;
}

std::string nic_lines(const NodeTopology& topology) {
  std::string out;
  for (const domain::Nic& nic : topology.nics()) {
    std::map<LinkKind, ChipSet> near;
    for (std::size_t slot = 0; slot < nic.paths.size(); ++slot) {
      near[nic.paths[slot]].insert(static_cast<int>(slot));
    }
    std::string line = "NIC " + nic.name + (nic.pci.empty() ? "" : " " + nic.pci);
    if (nic.numa >= 0) line += fmt::format(", NUMA {}", nic.numa);
    if (nic.gbps > 0) line += fmt::format(", {} GB/s", gbps_text(nic.gbps));
    for (const auto& [path, chips] : near) {
      line += fmt::format(", {} {}", domain::to_string(path), chip_list(topology.indices(chips)));
    }
    out += wrapped(line, 2) + "\n";
  }
  return out;
}

std::string health_lines(const NodeTopology& topology) {
  std::string out;
  if (!topology.unhealthy().empty()) {
    out += wrapped("Unhealthy: " + chip_list(topology.indices(topology.unhealthy())), 2) + "\n";
  }
  if (!topology.network_unhealthy().empty()) {
    out +=
        wrapped("Network port down: " + chip_list(topology.indices(topology.network_unhealthy())),
                2) +
        "\n";
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

std::vector<ChipSet> islands(const NodeTopology& topology) {
  std::vector<ChipSet> groups;
  const auto join = [&](ChipSet members) {
    if (members.size() < 2) return;
    std::erase_if(groups, [&](ChipSet group) {
      if (!group.intersects(members)) return false;
      members |= group;
      return true;
    });
    groups.push_back(members);
  };
  for (int slot = 0; slot < topology.chip_count(); ++slot) groups.push_back(ChipSet{slot});
  for (const domain::DirectLink& link : topology.links()) {
    if (link.lanes_up() > 0) join(ChipSet{link.a, link.b});
  }
  for (const domain::Switch& fabric : topology.switches()) {
    ChipSet up;
    for (const domain::SwitchPort& port : fabric.ports) {
      if (port.lanes_up() > 0) up.insert(port.slot);
    }
    join(up);
  }
  std::sort(groups.begin(), groups.end(),
            [](ChipSet a, ChipSet b) { return a.lowest() < b.lowest(); });
  return groups;
}

std::string render_topology(const NodeTopology& topology, const TopologyPage& page) {
  std::set<std::string> words;
  std::string out = summary(topology, page) + "\n";
  out += matrix(topology, page.cpus, words) + "\n";
  out += legend(words) + "\n";
  out += rates(topology) + size_line(page.sizes) + island_line(topology);
  out += switch_lines(topology) + nic_lines(topology) + health_lines(topology);
  return out;
}

}  // namespace chipweave::cli
