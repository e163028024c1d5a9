// hwloc XML (lstopo export), generations 1, 2 and 3, without libhwloc, which refuses files newer
// than itself.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/text/numbers.hpp"
#include "common/codec/topology/hardware/directed_lanes.hpp"
#include "common/codec/topology/xml/hwloc_tree.hpp"
#include "common/domain/link_rates.hpp"
#include "common/domain/topology_builder.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipIndex;
using domain::LinkKind;

constexpr std::size_t kMaxMatrixObjects = 1024;
constexpr std::uint64_t kHwlocXgmiConstant =
    100000;  // MB/s, written for every pair that XGMI can reach

// Fast links, by position in HwlocMachine::gpus.
struct HwlocLinks {
  std::vector<DirectedLanes::Agreed> nvlink;
  std::vector<DirectedLanes::Agreed> xgmi;
  std::map<int, int> switch_lanes;
};

struct HwlocMatrix {
  pugi::xml_node element;
  std::vector<std::uint64_t> objects;  // gp_index
  std::vector<std::uint64_t> values;   // row by row

  std::uint64_t at(std::size_t row, std::size_t column) const {
    return values[row * objects.size() + column];
  }
};

// Appends the numbers of a text like "332 333" or "OSDev:332 Package:3"; false on anything else.
bool append_numbers(std::string_view text, std::size_t max, std::vector<std::uint64_t>& out) {
  while (!(text = trim(text)).empty()) {
    std::string_view word = text.substr(0, text.find_first_of(" \t\r\n"));
    text.remove_prefix(word.size());
    if (const std::size_t colon = word.find(':'); colon != std::string_view::npos)
      word.remove_prefix(colon + 1);
    const std::optional<std::uint64_t> number = parse_unsigned(word);
    if (!number || out.size() >= max) return false;
    out.push_back(*number);
  }
  return true;
}

// nullopt if the matrix does not number its objects by gp_index.
Result<std::optional<HwlocMatrix>> read_matrix(const XmlDocument& document,
                                               pugi::xml_node element) {
  const bool mixed_types = std::string_view(element.name()) == "distances2hetero";
  if (!mixed_types && std::string_view(element.attribute("indexing").value()) != "gp")
    return std::optional<HwlocMatrix>{};
  HwlocMatrix out;
  out.element = element;
  const Result<int> count = document.integer(element, "nbobjs", 1, kMaxMatrixObjects);
  if (!count) return count.error();
  const auto size = static_cast<std::size_t>(*count);
  for (const pugi::xml_node part : element.children()) {
    const std::string_view name = part.name();
    const bool good = name == "indexes" ? append_numbers(part.child_value(), size, out.objects)
                      : name == "u64values"
                          ? append_numbers(part.child_value(), size * size, out.values)
                          : true;
    if (!good)
      return document.error(part, "expected only numbers, at most as many as nbobjs gives");
  }
  if (out.objects.size() != size || out.values.size() != size * size) {
    return document.error(element, "nbobjs is " + std::to_string(size) + ", got " +
                                       std::to_string(out.objects.size()) + " indexes and " +
                                       std::to_string(out.values.size()) + " values");
  }
  return std::optional<HwlocMatrix>(std::move(out));
}

// XGMI by model: MB/s of a link in one direction as drivers state it, and the largest number of
// chips that are connected all to all with single links.
struct XgmiModel {
  std::string_view word;
  double mbps_per_link;
  std::size_t largest_mesh;
};
constexpr std::array<XgmiModel, 6> kXgmiModels = {{{"MI300", 64000, 8},
                                                   {"MI325", 64000, 8},
                                                   {"MI350", 76800, 8},
                                                   {"MI210", 50000, 4},
                                                   {"MI250", 50000, 1},
                                                   {"MI100", 50000, 4}}};
constexpr XgmiModel kOlderXgmi{"", 50000, 3};

const XgmiModel& xgmi_model(std::string_view model) {
  const auto* const it = std::find_if(
      kXgmiModels.begin(), kXgmiModels.end(),
      [model](const XgmiModel& row) { return model.find(row.word) != std::string_view::npos; });
  return it == kXgmiModels.end() ? kOlderXgmi : *it;
}

// NVLink 1 has 20 GB/s per link, 2 to 4 have 25, 5 has 50 (hwloc's own table).
double nvlink_mbps_per_link(std::string_view model) {
  if (model.find("P100") != std::string_view::npos) return 20000;
  for (const std::string_view blackwell : {"B100", "B200", "B300"}) {
    if (model.find(blackwell) != std::string_view::npos) return 50000;
  }
  return 25000;
}

// The distance matrices that hold fast links. NVLinkBandwidth: MB/s one way, summed over the links
// of a pair. XGMIBandwidth: the same, unless it has one value for every pair of more chips than a
// chip has links for; then it lists reachable pairs, not direct links, and only the dies of one
// package are linked. XGMIHops is not used: it is 1 for indirect pairs too. Adds warnings to the
// machine.
class HwlocMatrixReader {
 public:
  HwlocMatrixReader(const XmlDocument& document, HwlocMachine& machine)
      : document_(document), machine_(machine) {}

  Result<HwlocLinks> read() {
    for (const pugi::xml_node element : document_.root().children()) {
      const std::string_view tag = element.name();
      if (tag != "distances2" && tag != "distances2hetero") continue;
      const std::string_view name = element.attribute("name").value();
      if (name == "XGMIHops") saw_hops_ = true;
      if (name != "NVLinkBandwidth" && name != "XGMIBandwidth") continue;
      Result<std::optional<HwlocMatrix>> matrix = read_matrix(document_, element);
      if (!matrix) return std::move(matrix).error();
      if (!*matrix) continue;
      if (name == "NVLinkBandwidth" ? saw_nvlink_ : saw_xgmi_) {
        machine_.warnings.add("several matrices " + std::string(name) + "; the first is used");
        continue;
      }
      Result<void> done = name == "NVLinkBandwidth" ? read_nvlink(**matrix) : read_xgmi(**matrix);
      if (!done) return std::move(done).error();
    }
    const auto index_of = [this](int position) {
      return machine_.gpus[static_cast<std::size_t>(position)].index;
    };
    out_.nvlink = nvlink_.agree(machine_.warnings, index_of);
    const std::vector<DirectedLanes::Agreed> xgmi = xgmi_.agree(machine_.warnings, index_of);
    out_.xgmi.insert(out_.xgmi.end(), xgmi.begin(), xgmi.end());
    warn_of_what_is_missing();
    return std::move(out_);
  }

 private:
  std::optional<int> gpu(std::uint64_t object) const {
    const auto it = machine_.gpu_of_object.find(object);
    return it == machine_.gpu_of_object.end() ? std::nullopt : std::optional(it->second);
  }

  const std::string& model(int position) const {
    return machine_.gpus[static_cast<std::size_t>(position)].model;
  }

  Result<int> lanes(const HwlocMatrix& matrix, std::uint64_t mbps, double mbps_per_link) const {
    const double count = std::max(1.0, std::round(static_cast<double>(mbps) / mbps_per_link));
    if (count > limits::kMaxLanes) {
      return document_.error(
          matrix.element,
          std::to_string(mbps) + " MB/s between two objects is more than links can have");
    }
    return static_cast<int>(count);
  }

  Result<void> read_nvlink(const HwlocMatrix& matrix) {
    saw_nvlink_ = true;
    int cpu_cells = 0;
    for (std::size_t row = 0; row < matrix.objects.size(); ++row) {
      const std::optional<int> from = gpu(matrix.objects[row]);
      if (!from) continue;
      for (std::size_t column = 0; column < matrix.objects.size(); ++column) {
        const std::optional<int> to = gpu(matrix.objects[column]);
        if (row == column || matrix.at(row, column) == 0 || to == from) continue;
        const Result<int> count =
            lanes(matrix, matrix.at(row, column), nvlink_mbps_per_link(model(*from)));
        if (!count) return count.error();
        if (to) {
          nvlink_.add(*from, *to, *count);
        } else if (machine_.nvswitch_objects.count(matrix.objects[column]) > 0) {
          out_.switch_lanes[*from] += *count;
        } else {
          ++cpu_cells;
        }
      }
    }
    if (cpu_cells > 0) {
      machine_.warnings.add("NVLinkBandwidth: " + std::to_string(cpu_cells) +
                            " GPUs have NVLinks to CPUs (POWER), which are left out");
    }
    return {};
  }

  Result<void> read_xgmi(const HwlocMatrix& matrix) {
    saw_xgmi_ = true;
    std::set<std::uint64_t> values;
    std::set<int> members;
    for (std::size_t row = 0; row < matrix.objects.size(); ++row) {
      const std::optional<int> from = gpu(matrix.objects[row]);
      for (std::size_t column = 0; from && column < matrix.objects.size(); ++column) {
        if (row == column || !gpu(matrix.objects[column])) continue;
        values.insert(matrix.at(row, column));
        members.insert(*from);
      }
    }
    // The same value everywhere is either hwloc's constant or a mesh of equal links.
    const bool constant = values.size() == 1 && members.size() > 1 && *values.begin() > 0;
    if (constant && members.size() > xgmi_model(model(*members.begin())).largest_mesh) {
      link_packages(members, *values.begin());
      return {};
    }
    for (std::size_t row = 0; row < matrix.objects.size(); ++row) {
      const std::optional<int> from = gpu(matrix.objects[row]);
      for (std::size_t column = 0; from && column < matrix.objects.size(); ++column) {
        const std::optional<int> to = gpu(matrix.objects[column]);
        if (!to || to == from || matrix.at(row, column) == 0) continue;
        const double per_link = xgmi_model(model(*from)).mbps_per_link;
        const std::uint64_t mbps = matrix.at(row, column);
        // hwloc's constant does not show the number of links either: meshes have one per pair.
        const Result<int> count =
            constant && mbps == kHwlocXgmiConstant ? Result<int>(1) : lanes(matrix, mbps, per_link);
        if (!count) return count.error();
        xgmi_.add(*from, *to, *count);
      }
    }
    return {};
  }

  // The dies of one MI250 package are joined by four links.
  void link_packages(const std::set<int>& members, std::uint64_t mbps) {
    constexpr int kLinksInPackage = 4;
    for (const int a : members) {
      const HwlocGpu& one = machine_.gpus[static_cast<std::size_t>(a)];
      for (const int b : members) {
        const HwlocGpu& other = machine_.gpus[static_cast<std::size_t>(b)];
        const bool package = !one.serial.empty() && one.serial == other.serial &&
                             one.model.find("MI250") != std::string::npos &&
                             one.model == other.model;
        if (a < b && package) out_.xgmi.push_back({a, b, kLinksInPackage});
      }
    }
    machine_.warnings.add(
        "XGMIBandwidth holds " + std::to_string(mbps) + " MB/s for every pair of " +
        std::to_string(members.size()) +
        " GPUs, more than they have links for: it lists reachable pairs, not direct links. " +
        (out_.xgmi.empty() ? "XGMI links are left out"
                           : "Only the links inside packages (same AMDSerial) are taken") +
        "; import the machine's KFD tree (/sys/class/kfd) for all of them");
  }

  void warn_of_what_is_missing() {
    const auto any = [this](std::string_view vendor) {
      return std::count_if(machine_.gpus.begin(), machine_.gpus.end(),
                           [vendor](const HwlocGpu& g) { return g.vendor == vendor; }) > 1;
    };
    if (any("nvidia") && !saw_nvlink_) {
      machine_.warnings.add(
          "no NVLinkBandwidth matrix: NVLinks of this machine, if any, are unknown");
    }
    if (any("amd") && !saw_xgmi_) {
      machine_.warnings.add(
          std::string("no XGMIBandwidth matrix") +
          (saw_hops_ ? " (XGMIHops does not tell direct links from routes)" : "") +
          ": XGMI links of this machine, if any, are unknown");
    }
  }

  const XmlDocument& document_;
  HwlocMachine& machine_;
  HwlocLinks out_;
  DirectedLanes nvlink_;
  DirectedLanes xgmi_;
  bool saw_nvlink_ = false;
  bool saw_xgmi_ = false;
  bool saw_hops_ = false;
};

// From the current rate of the GPUs' PCIe links (GB/s of the whole link). An idle link runs below
// its maximum; then the model's default applies.
std::optional<domain::HostBandwidth> hwloc_host_bandwidth(const HwlocMachine& machine) {
  double slowest = 0;
  for (const HwlocGpu& gpu : machine.gpus) {
    if (gpu.pci_gbps > 0) slowest = slowest > 0 ? std::min(slowest, gpu.pci_gbps) : gpu.pci_gbps;
  }
  if (slowest < 15) return std::nullopt;
  const int generation = slowest > 100 ? 6 : (slowest > 50 ? 5 : (slowest > 25 ? 4 : 3));
  return domain::pcie_host_bandwidth(generation, machine.intel);
}

void add_hwloc_links(const HwlocLinks& links, const HwlocMachine& machine,
                     const ImportOptions& options, domain::TopologyBuilder& builder) {
  const auto index = [&machine](int position) {
    return ChipIndex{machine.gpus[static_cast<std::size_t>(position)].index};
  };
  const auto rate = [&](LinkKind kind, int position) -> std::optional<double> {
    const std::string& model = options.model.empty()
                                   ? machine.gpus[static_cast<std::size_t>(position)].model
                                   : options.model;
    // RCCL counts 36 GB/s for a link of every generation before MI300.
    if (kind == LinkKind::xgmi && (model == "Vega20" || model.find("MI60") != std::string::npos))
      return 36.0;
    return domain::default_gbps_per_lane(kind, model);
  };
  for (const DirectedLanes::Agreed& l : links.nvlink) {
    builder.add_link(index(l.a), index(l.b), LinkKind::nvlink, l.lanes,
                     rate(LinkKind::nvlink, l.a));
  }
  for (const DirectedLanes::Agreed& l : links.xgmi) {
    builder.add_link(index(l.a), index(l.b), LinkKind::xgmi, l.lanes, rate(LinkKind::xgmi, l.a));
  }
  if (links.switch_lanes.empty()) return;
  std::vector<domain::TopologyBuilder::Port> ports;
  for (const auto& [position, lanes] : links.switch_lanes)
    ports.push_back({index(position), lanes, 0});
  builder.add_switch("NVSwitch", LinkKind::nvswitch, std::move(ports),
                     rate(LinkKind::nvswitch, links.switch_lanes.begin()->first));
}

}  // namespace

bool looks_like_hwloc_xml(std::string_view content) {
  return root_element_name(content) == "topology";
}

Result<ImportedTopology> import_hwloc_xml(std::string_view content, const ImportOptions& options) {
  Result<XmlDocument> document = XmlDocument::parse(content, "topology");
  if (!document) return std::move(document).error();
  Result<HwlocMachine> machine = read_hwloc_machine(*document);
  if (!machine) return std::move(machine).error();
  number_chips(*machine);
  Result<HwlocLinks> links = HwlocMatrixReader(*document, *machine).read();
  if (!links) return std::move(links).error();
  domain::TopologyBuilder builder;
  add_chips(machine->gpus, options, builder);
  builder.host_bandwidth = hwloc_host_bandwidth(*machine);
  add_host_paths(machine->tree, machine->gpus, machine->nics, builder);
  add_hwloc_links(*links, *machine, options, builder);
  auto out = imported(std::move(builder), "hwloc-xml", std::move(machine->warnings).list());
  if (!out) return out;
  out->host = facts_of(machine->gpus);
  for (const HwlocGpu& gpu : machine->gpus)
    out->host.rocm_smi_numbers |= gpu.numbers.contains("rsmi");
  return out;
}

}  // namespace chipweave::codec
