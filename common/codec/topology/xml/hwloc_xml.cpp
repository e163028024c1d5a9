// hwloc XML (lstopo export), generations 1, 2 and 3, without libhwloc, which refuses files newer
// than itself.
#include <algorithm>
#include <utility>

#include "common/codec/topology/xml/hwloc_matrices.hpp"
#include "common/codec/topology/xml/hwloc_tree.hpp"
#include "common/domain/link_rates.hpp"
#include "common/domain/topology_builder.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipIndex;
using domain::LinkKind;

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
  Result<HwlocLinks> links = read_hwloc_links(*document, *machine);
  if (!links) return std::move(links).error();
  domain::TopologyBuilder builder;
  add_chips(machine->gpus, options, builder);
  builder.host_bandwidth = hwloc_host_bandwidth(*machine);
  add_host_paths(machine->tree, machine->gpus, machine->nics, builder);
  add_hwloc_links(*links, *machine, options, builder);
  Result<domain::NodeTopology> topology = std::move(builder).build();
  if (!topology) return std::move(topology).error();
  return ImportedTopology{std::move(topology).value(), "hwloc-xml",
                          std::move(machine->warnings).list()};
}

}  // namespace chipweave::codec
