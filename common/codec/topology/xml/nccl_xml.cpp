// NCCL topology XML, version 1 (NCCL) and 2 (RCCL): what NCCL_TOPO_DUMP_FILE writes and cloud
// providers ship.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/topology/hardware/directed_lanes.hpp"
#include "common/codec/topology/hardware/pci.hpp"
#include "common/codec/topology/xml/nccl_tree.hpp"
#include "common/domain/link_rates.hpp"
#include "common/domain/topology_builder.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipIndex;
using domain::LinkKind;

// Fast links of the file: between GPUs by dev, and lanes to the one switch that stands for all
// NVSwitches.
struct FastLinks {
  DirectedLanes nvlink;
  DirectedLanes xgmi;
  std::map<int, int> switch_lanes;  // dev → lanes
  std::set<int> linked;             // devs with a link to a GPU or a switch
};

class LinkReader {
 public:
  LinkReader(const XmlDocument& document, NcclMachine& machine)
      : document_(document), machine_(machine) {
    for (const NcclGpu& gpu : machine.gpus) by_bus_id_.emplace(gpu.bus_id, gpu.index);
  }

  Result<FastLinks> read() {
    for (const NcclGpu& gpu : machine_.gpus) {
      for (const pugi::xml_node link : gpu.element.children()) {
        const std::string_view name = link.name();
        if (name != "nvlink" && name != "xgmi") continue;
        if (Result<void> done = read_link(gpu, link, name == "xgmi"); !done) return done.error();
      }
    }
    if (cpu_links_ > 0) {
      machine_.warnings.add(std::to_string(cpu_links_) +
                            " NVLinks lead to CPUs (POWER), not to GPUs, and are left out");
    }
    return std::move(links_);
  }

 private:
  Result<void> read_link(const NcclGpu& gpu, pugi::xml_node link, bool xgmi) {
    const Result<int> lanes = document_.integer(link, "count", 1, limits::kMaxLanes);
    if (!lanes) return lanes.error();
    const std::string target = normalize_bus_id(link.attribute("target").value());
    const std::string_view target_class = link.attribute("tclass").value();
    if (target.empty()) return document_.error(link, "attribute target is missing");
    if (target_class.substr(0, 8) == "0x068001") {
      ++cpu_links_;
      return {};
    }
    if (const auto peer = by_bus_id_.find(target); peer != by_bus_id_.end()) {
      if (peer->second == gpu.index) {
        machine_.warnings.add_made([&] {
          return document_.where(link) + ": chip " + std::to_string(gpu.index) +
                 " has a link to itself, which is left out";
        });
      } else {
        (xgmi ? links_.xgmi : links_.nvlink).add(gpu.index, peer->second, *lanes);
        links_.linked.insert(gpu.index);
      }
      return {};
    }
    // A GPU that is not in the file. NCCL treats a peer that the dumping process could not see
    // ("fffffff:ffff:ff") as an NVSwitch of any class.
    const bool visible = target.substr(0, 4) != "ffff";
    if (xgmi || (visible && target_class.substr(0, 4) == "0x03")) {
      machine_.warnings.add_made([&] {
        return document_.where(link) + ": link of chip " + std::to_string(gpu.index) + " to " +
               quoted_excerpt(target) + ", which is not a GPU of this file, is left out";
      });
      return {};
    }
    links_.switch_lanes[gpu.index] += *lanes;
    links_.linked.insert(gpu.index);
    return {};
  }

  const XmlDocument& document_;
  NcclMachine& machine_;
  FastLinks links_;
  int cpu_links_ = 0;
  std::map<std::string, int, std::less<>> by_bus_id_;
};

// The bandwidth that the GPUs' own PCIe links allow; nullopt if no GPU states a speed. Narrow links
// get their share of x16.
std::optional<domain::HostBandwidth> nccl_host_bandwidth(const NcclMachine& machine) {
  int generation = 0;
  double share = 1;
  for (const NcclGpu& gpu : machine.gpus) {
    const int its = pcie_generation_of_gts(gpu.link_gts);
    if (its > 0) generation = generation == 0 ? its : std::min(generation, its);
    if (gpu.link_width > 0 && gpu.link_width < 16) share = std::min(share, gpu.link_width / 16.0);
  }
  if (generation == 0) return std::nullopt;
  domain::HostBandwidth out = domain::pcie_host_bandwidth(generation, machine.intel);
  for (double* gbps : {&out.board, &out.pix, &out.pxb, &out.phb, &out.node}) *gbps *= share;
  out.sys = std::min(out.sys, out.phb);
  return out;
}

Result<void> check_indices(const NcclMachine& machine) {
  std::map<std::string, int, std::less<>> seen_bus;
  std::map<int, std::string> seen_dev;
  for (const NcclGpu& gpu : machine.gpus) {
    if (const auto [it, fresh] = seen_dev.emplace(gpu.index, gpu.bus_id); !fresh) {
      return make_error(Errc::invalid_argument, "two GPUs have dev " + std::to_string(gpu.index) +
                                                    " (at " + quoted_excerpt(it->second) + " and " +
                                                    quoted_excerpt(gpu.bus_id) + ")");
    }
    if (gpu.bus_id.empty()) continue;
    if (const auto [it, fresh] = seen_bus.emplace(gpu.bus_id, gpu.index); !fresh) {
      return make_error(Errc::invalid_argument,
                        "GPUs " + std::to_string(it->second) + " and " + std::to_string(gpu.index) +
                            " have one bus id, " + quoted_excerpt(gpu.bus_id));
    }
  }
  return {};
}

// A GPU without links among others with links: a fault of the machine or of the file.
void warn_of_unlinked(const FastLinks& links, NcclMachine& machine) {
  std::string without;
  for (const NcclGpu& gpu : machine.gpus) {
    if (links.linked.count(gpu.index) == 0) without += " " + std::to_string(gpu.index);
  }
  if (links.linked.empty() || without.empty()) return;
  machine.warnings.add("chips without NVLink or XGMI, unlike others:" + without);
}

void add_nccl_links(const FastLinks& links, bool model_given, NcclMachine& machine,
                    domain::TopologyBuilder& builder) {
  // The slower end decides, unless the caller chose the model.
  const auto rate = [&](auto&& concerned) {
    std::optional<double> out;
    for (const NcclGpu& gpu : machine.gpus) {
      if (model_given || !concerned(gpu.index) || !gpu.lane_gbps) continue;
      out = out ? std::min(*out, *gpu.lane_gbps) : gpu.lane_gbps;
    }
    return out;
  };
  const auto add = [&](const DirectedLanes& lanes, LinkKind kind) {
    for (const DirectedLanes::Agreed& link : lanes.agree(machine.warnings)) {
      builder.add_link(ChipIndex{link.a}, ChipIndex{link.b}, kind, link.lanes,
                       rate([&](int dev) { return dev == link.a || dev == link.b; }));
    }
  };
  add(links.nvlink, LinkKind::nvlink);
  add(links.xgmi, LinkKind::xgmi);
  if (links.switch_lanes.empty()) return;
  std::vector<domain::TopologyBuilder::Port> ports;
  for (const auto& [dev, lanes] : links.switch_lanes) ports.push_back({ChipIndex{dev}, lanes, 0});
  builder.add_switch("NVSwitch", LinkKind::nvswitch, std::move(ports),
                     rate([&](int dev) { return links.switch_lanes.count(dev) > 0; }));
}

}  // namespace

bool looks_like_nccl_xml(std::string_view content) {
  return root_element_name(content) == "system";
}

Result<ImportedTopology> import_nccl_xml(std::string_view content, const ImportOptions& options) {
  Result<XmlDocument> document = XmlDocument::parse(content, "system");
  if (!document) return std::move(document).error();
  Result<NcclMachine> read = read_nccl_machine(*document);
  if (!read) return std::move(read).error();
  NcclMachine& machine = *read;
  if (Result<void> checked = check_indices(machine); !checked) return std::move(checked).error();
  Result<FastLinks> links = LinkReader(*document, machine).read();
  if (!links) return std::move(links).error();
  warn_of_unlinked(*links, machine);
  if (!machine.has_gpu_elements) {
    machine.warnings.add(
        "the file has PCI devices only: GPUs are numbered in its order, and the links between them "
        "(NVLink, XGMI) are unknown; a file written with NCCL_TOPO_DUMP_FILE on the machine has "
        "them");
  }
  domain::TopologyBuilder builder;
  add_chips(machine.gpus, options, builder);
  builder.host_bandwidth = nccl_host_bandwidth(machine);
  add_host_paths(machine.tree, machine.gpus, machine.nics, builder);
  add_nccl_links(*links, !options.model.empty(), machine, builder);
  auto out = imported(std::move(builder), "nccl-xml", std::move(machine.warnings).list());
  if (out) out->host = facts_of(machine.gpus);
  return out;
}

}  // namespace chipweave::codec
