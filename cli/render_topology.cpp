#include "cli/render_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>

#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "common/base/text.hpp"

namespace chipweave::cli {
namespace {

using domain::ChipSet;
using domain::LinkKind;
using domain::NodeTopology;

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
                         : page.matrix.numa_stated
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
  return wrapped("GB/s one way, as a ring gets them: " + out +
                     (topology.p2p() ? "" : ", staged in host memory"),
                 2) +
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
  return wrapped("Sizes a pod can ask for (best predicted busbw, GB/s):" + out, 2) +
         "\n  busbw = bus bandwidth of a ring all-reduce, as nccl-tests prints it\n";
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

std::string nic_legend(const NodeTopology& topology) {
  if (topology.nics().empty()) return {};
  std::string out = "\nNIC Legend:\n";
  for (std::size_t i = 0; i < topology.nics().size(); ++i) {
    const domain::Nic& nic = topology.nics()[i];
    std::string line = fmt::format("  NIC{}: {}", i, nic.name);
    if (!nic.pci.empty() && nic.pci != nic.name) line += ", " + nic.pci;
    if (nic.numa >= 0) line += fmt::format(", NUMA {}", nic.numa);
    if (nic.gbps > 0) line += fmt::format(", line rate {} GB/s", gbps_text(nic.gbps));
    out += wrapped(line, 4) + "\n";
  }
  return out;
}

std::string memory_text(std::uint64_t bytes) {
  constexpr double kGib = 1024.0 * 1024 * 1024;
  return bytes == 0 ? "-" : fmt::format("{:.0f} GiB", static_cast<double>(bytes) / kGib);
}

const char* health_word(domain::Health health) {
  switch (health) {
    case domain::Health::healthy:
      break;
    case domain::Health::network_unhealthy:
      return "port down";
    case domain::Health::unhealthy:
      return "unhealthy";
  }
  return "healthy";
}

std::string chip_rows(const NodeTopology& topology, std::size_t columns) {
  constexpr std::size_t kId = 1;
  Table table({{"CHIP"}, {"ID"}, {"MODEL"}, {"PCI"}, {"MEMORY", Table::Align::right}, {"HEALTH"}},
              kId);
  const auto known = [](const std::string& text) { return text.empty() ? "-" : text; };
  for (const domain::Chip& chip : topology.chips()) {
    table.add({std::to_string(chip.index.value), known(chip.id),
               known(chip.model.empty() ? topology.model() : chip.model), known(chip.pci),
               memory_text(chip.memory_bytes), health_word(chip.health)});
  }
  return "\n" + table.text(colour_wanted(), columns);
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
  const TopologyMatrix matrix = topology_matrix(topology, page.matrix);
  std::string out = summary(topology, page) + "\n";
  out += matrix.text + "\n" + legend(matrix.words) + "\n";
  out += rates(topology) + size_line(page.sizes) + island_line(topology);
  out += switch_lines(topology) + health_lines(topology) + nic_legend(topology);
  if (page.wide) out += chip_rows(topology, page.matrix.columns);
  return out;
}

}  // namespace chipweave::cli
