// NodeTopology → NCCL topology XML. The PCI tree is rebuilt from the path classes: chips joined by
// NODE or better share a <cpu>, by PXB or better a bridge, by PIX or better a bridge below that.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <pugixml.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "common/codec/topology/hardware/device_models.hpp"
#include "common/codec/topology/import.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::codec {
namespace {

using domain::LinkKind;
using domain::NodeTopology;

constexpr const char* kBridgeClass = "0x060400";
constexpr const char* kNvswitchClass = "0x068000";
constexpr const char* kNvswitchBusId = "ffff:ff:00.0";

// For every slot the lowest slot that it is joined with by `worst` or better, directly or over
// others.
std::vector<int> groups(const NodeTopology& t, LinkKind worst) {
  std::vector<int> group(static_cast<std::size_t>(t.chip_count()));
  std::iota(group.begin(), group.end(), 0);
  for (int a = 0; a < t.chip_count(); ++a) {
    for (int b = a + 1; b < t.chip_count(); ++b) {
      if (t.host_path(a, b) > worst) continue;
      const int keep =
          std::min(group[static_cast<std::size_t>(a)], group[static_cast<std::size_t>(b)]);
      const int drop =
          std::max(group[static_cast<std::size_t>(a)], group[static_cast<std::size_t>(b)]);
      std::replace(group.begin(), group.end(), drop, keep);
    }
  }
  return group;
}

std::string hex(std::uint32_t value, int digits) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%0*x", digits, value);
  return text.data();
}

// GT/s of the PCIe generation whose x16 gives these GB/s; "" for any other figure.
std::string link_speed(double gbps) {
  if (gbps == 12) return "8.0 GT/s PCIe";
  if (gbps == 24) return "16.0 GT/s PCIe";
  if (gbps == 48) return "32.0 GT/s PCIe";
  return gbps == 96 ? "64.0 GT/s PCIe" : "";
}

class Exporter {
 public:
  explicit Exporter(const NodeTopology& topology)
      : topology_(topology),
        cpu_(groups(topology, LinkKind::node)),
        upper_(groups(topology, LinkKind::pxb)),
        lower_(groups(topology, LinkKind::pix)) {}

  NcclXml run() {
    system_ = document_.append_child("system");
    const bool amd =
        domain::vendor_of(topology_).id == domain::VendorId::amd ||
        std::any_of(topology_.links().begin(), topology_.links().end(),
                    [](const domain::DirectLink& l) { return l.kind == LinkKind::xgmi; });
    system_.append_attribute("version") = amd ? 2 : 1;
    for (const domain::Chip& chip : topology_.chips()) known_numa_.insert(chip.numa);
    for (const domain::Nic& nic : topology_.nics()) known_numa_.insert(nic.numa);
    choose_bus_ids();
    for (int slot = 0; slot < topology_.chip_count(); ++slot) add_chip(slot, amd);
    for (const domain::DirectLink& link : topology_.links()) add_link(link);
    for (const domain::Switch& sw : topology_.switches()) add_switch(sw);
    for (int slot = 0; slot < topology_.chip_count(); ++slot) add_switch_lanes(slot);
    for (std::size_t i = 0; i < topology_.nics().size(); ++i)
      add_nic(topology_.nics()[i], static_cast<int>(i));
    NcclXml out;
    out.left_out = left_out();
    for (auto what = out.left_out.rbegin(); what != out.left_out.rend(); ++what)
      document_.prepend_child(pugi::node_comment).set_value((" left out: " + *what + " ").c_str());
    std::ostringstream text;
    document_.save(text, "  ", pugi::format_default | pugi::format_no_declaration);
    out.text = text.str();
    return out;
  }

 private:
  static std::size_t at(int slot) { return static_cast<std::size_t>(slot); }

  // The chips' own bus ids; symbolic ones if they have none or share one (partitions of a card).
  void choose_bus_ids() {
    std::map<std::string, int> uses;
    for (const domain::Chip& chip : topology_.chips()) ++uses[chip.pci];
    for (int slot = 0; slot < topology_.chip_count(); ++slot) {
      const std::string& own = topology_.chip(slot).pci;
      const bool good = !own.empty() && uses[own] == 1;
      bus_ids_.push_back(good ? own : "fffe:00:" + hex(static_cast<std::uint32_t>(slot), 2) + ".0");
    }
  }

  // A <cpu> of a known NUMA node has its number; a second one of that node (its chips are SYS apart
  // nevertheless) the lowest that no node of the machine has. -1: unknown.
  pugi::xml_node new_cpu(int numa) {
    if (numa >= 0 && !numa_ids_.insert(numa).second) {
      numa = 0;
      while (known_numa_.count(numa) > 0 || !numa_ids_.insert(numa).second) ++numa;
    }
    pugi::xml_node cpu = system_.append_child("cpu");
    cpu.append_attribute("numaid") = numa;
    return cpu;
  }

  pugi::xml_node cpu_of(int slot) {
    pugi::xml_node& cpu = cpus_[cpu_[at(slot)]];
    if (!cpu) cpu = new_cpu(topology_.chip(slot).numa);
    return cpu;
  }

  pugi::xml_node add_bridge(pugi::xml_node parent) {
    pugi::xml_node bridge = parent.append_child("pci");
    ++bridges_;
    const std::string bus_id =
        "ffff:" + hex(bridges_ >> 8U, 2) + ":" + hex(bridges_ & 0xffU, 2) + ".0";
    bridge.append_attribute("busid") = bus_id.c_str();
    bridge.append_attribute("class") = kBridgeClass;
    return bridge;
  }

  pugi::xml_node upper_of(int slot) {
    pugi::xml_node& bridge = uppers_[upper_[at(slot)]];
    if (!bridge) bridge = add_bridge(cpu_of(slot));
    return bridge;
  }

  pugi::xml_node lower_of(int slot) {
    pugi::xml_node& bridge = lowers_[lower_[at(slot)]];
    if (!bridge) bridge = add_bridge(upper_of(slot));
    return bridge;
  }

  void add_chip(int slot, bool amd) {
    const domain::Chip& chip = topology_.chip(slot);
    pugi::xml_node pci = lower_of(slot).append_child("pci");
    pci.append_attribute("busid") = bus_ids_[at(slot)].c_str();
    pci.append_attribute("class") = amd ? "0x038000" : "0x030200";
    if (const auto device = device_of_model(chip.model)) {
      pci.append_attribute("vendor") = ("0x" + hex(device->first, 4)).c_str();
      pci.append_attribute("device") = ("0x" + hex(device->second, 4)).c_str();
    } else if (domain::vendor_of(topology_).in_nccl_xml) {
      pci.append_attribute("vendor") = ("0x" + hex(amd ? kPciAmd : kPciNvidia, 4)).c_str();
    }
    const std::string speed = link_speed(topology_.host_bandwidth().pix);
    pci.append_attribute("link_speed") = speed.c_str();
    pci.append_attribute("link_width") = speed.empty() ? 0 : 16;
    pugi::xml_node gpu = pci.append_child("gpu");
    gpu.append_attribute("dev") = chip.index.value;
    gpu.append_attribute("rank") = slot;
    add_architecture(gpu, slot, amd);
    gpus_.push_back(gpu);
  }

  // The attribute that NCCL derives link rates from, computed back from the rate.
  void add_architecture(pugi::xml_node gpu, int slot, bool amd) const {
    double gbps = 0;
    for (const domain::DirectLink& link : topology_.links()) {
      if (link.a == slot || link.b == slot) gbps = link.gbps_per_lane;
    }
    for (const domain::Switch& sw : topology_.switches()) {
      if (sw.members().contains(slot)) gbps = sw.gbps_per_lane;
    }
    if (amd) {
      for (const auto& [rate, gcn] : {std::pair(36.0, "910"), {48.0, "gfx942"}, {57.6, "gfx950"}}) {
        if (gbps == rate) gpu.append_attribute("gcn") = gcn;
      }
      return;
    }
    const bool ampere = topology_.chip(slot).model.find("A100") != std::string::npos;
    for (const auto& [rate, sm] :
         {std::pair(18.0, 60), {20.0, ampere ? 80 : 70}, {12.0, 86}, {20.6, 90}, {40.1, 100}}) {
      if (gbps == rate) gpu.append_attribute("sm") = sm;
    }
  }

  void add_fast(int from, const char* name, const std::string& target, int lanes,
                const char* target_class) {
    pugi::xml_node link = gpus_[at(from)].append_child(name);
    link.append_attribute("target") = target.c_str();
    link.append_attribute("count") = lanes;
    link.append_attribute("tclass") = target_class;
  }

  static bool known(const domain::Switch& sw) {
    return sw.kind == LinkKind::nvswitch || sw.kind == LinkKind::nvlink;
  }

  std::vector<std::string> left_out() const {
    std::vector<std::string> out;
    const std::string& vendor = topology_.vendor();
    if (!vendor.empty() && !domain::vendor_of(topology_).in_nccl_xml)
      out.push_back("vendor " + vendor);
    std::map<LinkKind, int> links;
    int lanes_down = 0;
    for (const domain::DirectLink& link : topology_.links()) {
      if (link.kind != LinkKind::nvlink && link.kind != LinkKind::xgmi) ++links[link.kind];
      lanes_down += link.lanes_down;
    }
    for (const auto& [kind, count] : links)
      out.push_back(std::to_string(count) + " " + std::string(to_string(kind)) + " links");
    int switches = 0;
    for (const domain::Switch& sw : topology_.switches()) {
      if (!known(sw))
        out.push_back("switch " + sw.name + " (" + std::string(to_string(sw.kind)) + ")");
      switches += known(sw) ? 1 : 0;
      for (const domain::SwitchPort& port : sw.ports) lanes_down += port.lanes_down;
    }
    if (switches > 1)
      out.push_back("that there are " + std::to_string(switches) + " switches, not one");
    if (lanes_down > 0)
      out.push_back("that " + std::to_string(lanes_down) + " lanes are down, not absent");
    if (topology_.rule().kind != domain::RuleKind::any)
      out.push_back("placement rule " + std::string(to_string(topology_.rule().kind)));
    if (!topology_.partitions().empty())
      out.push_back("the " + std::to_string(topology_.partitions().size()) + " legal partitions");
    return out;
  }

  void add_link(const domain::DirectLink& link) {
    const bool xgmi = link.kind == LinkKind::xgmi;
    if (link.lanes_up() == 0 || (!xgmi && link.kind != LinkKind::nvlink)) return;
    const char* name = xgmi ? "xgmi" : "nvlink";
    const char* target_class = xgmi ? "0x038000" : "0x030200";
    add_fast(link.a, name, bus_ids_[at(link.b)], link.lanes_up(), target_class);
    add_fast(link.b, name, bus_ids_[at(link.a)], link.lanes_up(), target_class);
  }

  // NCCL knows one switch; several become one.
  void add_switch(const domain::Switch& sw) {
    if (!known(sw)) return;
    for (const domain::SwitchPort& port : sw.ports) switch_lanes_[port.slot] += port.lanes_up();
  }

  void add_switch_lanes(int slot) {
    const auto it = switch_lanes_.find(slot);
    if (it != switch_lanes_.end() && it->second > 0)
      add_fast(slot, "nvlink", kNvswitchBusId, it->second, kNvswitchClass);
  }

  // The parent element of a NIC, according to its best path to a chip.
  pugi::xml_node nic_parent(const domain::Nic& nic) {
    int best = 0;
    for (int slot = 1; slot < topology_.chip_count(); ++slot) {
      if (nic.paths[at(slot)] < nic.paths[at(best)]) best = slot;
    }
    const LinkKind kind = nic.paths[at(best)];
    if (kind <= LinkKind::pix) return lower_of(best);
    if (kind <= LinkKind::pxb) return upper_of(best);
    if (kind <= LinkKind::node) return cpu_of(best);
    pugi::xml_node& cpu = nic_cpus_[nic.numa];
    if (!cpu) cpu = new_cpu(nic.numa);
    return cpu;
  }

  void add_nic(const domain::Nic& nic, int dev) {
    pugi::xml_node parent = nic_parent(nic);
    const std::string bus_id =
        nic.pci.empty() ? "fffe:01:" + hex(static_cast<std::uint32_t>(dev), 2) + ".0" : nic.pci;
    pugi::xml_node holder = parent.find_child_by_attribute("pci", "busid", bus_id.c_str());
    if (!holder) {
      holder = parent.append_child("pci");
      holder.append_attribute("busid") = bus_id.c_str();
      holder.append_attribute("class") = "0x020000";
      holder.append_child("nic");
    }
    pugi::xml_node net = holder.child("nic").append_child("net");
    net.append_attribute("name") = nic.name.c_str();
    net.append_attribute("dev") = dev;
    if (nic.gbps > 0)
      net.append_attribute("speed") = static_cast<long long>(std::llround(nic.gbps * 8000));
  }

  const NodeTopology& topology_;
  std::vector<int> cpu_;  // by slot: lowest slot of its group
  std::vector<int> upper_;
  std::vector<int> lower_;
  pugi::xml_document document_;
  pugi::xml_node system_;
  std::vector<std::string> bus_ids_;                      // by slot
  std::vector<pugi::xml_node> gpus_;                      // by slot
  std::map<int, pugi::xml_node> cpus_, uppers_, lowers_;  // by group
  std::map<int, pugi::xml_node> nic_cpus_;  // of NICs far from every chip, by NUMA node
  std::map<int, int> switch_lanes_;         // by slot
  std::set<int> known_numa_;                // nodes of the machine
  std::set<int> numa_ids_;                  // written so far
  std::uint32_t bridges_ = 0;
};

}  // namespace

NcclXml export_nccl_xml(const domain::NodeTopology& topology) { return Exporter(topology).run(); }

}  // namespace chipweave::codec
