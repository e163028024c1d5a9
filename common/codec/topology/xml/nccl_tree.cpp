#include "common/codec/topology/xml/nccl_tree.hpp"

#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/text/cpu_mask.hpp"
#include "common/codec/text/numbers.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/topology/hardware/device_models.hpp"
#include "common/codec/topology/hardware/pci.hpp"

namespace chipweave::codec {
namespace {

constexpr int kWidestLink = 32;  // PCIe lanes

class NcclTreeReader {
 public:
  NcclTreeReader(const XmlDocument& document, int version)
      : document_(document), version_(version) {}

  Result<NcclMachine> read() {
    const pugi::xml_node system = document_.root();
    std::size_t elements = 0;  // of GPUs, at any depth
    system.find_node([&](const pugi::xml_node& n) {
      const bool gpu = std::string_view(n.name()) == "gpu";
      elements += gpu ? 1 : 0;
      out_.has_gpu_elements |= gpu && std::string_view(n.parent().name()) == "pci";
      return false;
    });
    std::set<std::string, std::less<>> hosts;
    for (const pugi::xml_node cpu : system.children("cpu")) {
      hosts.insert(cpu.attribute("host_hash").value());
      if (const Result<void> done = read_cpu(cpu); !done) return done.error();
    }
    if (hosts.size() > 1) {
      return document_.error(system,
                             "the file describes " + std::to_string(hosts.size()) +
                                 " hosts (attribute host_hash); it must describe one machine");
    }
    if (out_.has_gpu_elements && elements > out_.gpus.size()) {
      out_.warnings.add(
          std::to_string(elements - out_.gpus.size()) +
          " <gpu> elements are not in a <pci> of their own below a <cpu> and are left "
          "out");
    }
    if (out_.gpus.empty()) {
      return document_.error(
          system, "no GPU: neither a <gpu> element nor a PCI device of class 0x03 or 0x12");
    }
    return std::move(out_);
  }

 private:
  static bool has_class(pugi::xml_node pci, std::string_view prefix) {
    return std::string_view(pci.attribute("class").value()).substr(0, prefix.size()) == prefix;
  }
  static bool gpu_class(pugi::xml_node pci) {
    return has_class(pci, "0x03") || has_class(pci, "0x12");
  }

  Result<void> read_cpu(pugi::xml_node cpu) {
    int numa = -1;
    if (cpu.attribute("numaid")) {
      const Result<int> id = document_.integer(cpu, "numaid", -1, limits::kMaxNumaNode);
      if (!id) return id.error();
      numa = *id;
    }
    if (std::string_view(cpu.attribute("vendor").value()) == "GenuineIntel") out_.intel = true;
    cpus_ = cpu_list_of_mask(cpu.attribute("affinity").value());
    const int node = out_.tree.add(0, HostTree::Level::root_complex, numa);
    for (const pugi::xml_node child : cpu.children()) {
      const std::string_view name = child.name();
      if (name == "pci") {
        if (Result<void> done = read_pci(child, node, numa); !done) return done;
      } else if (name == "nic") {
        // A NIC without a PCI device (virtual, or not found).
        if (Result<void> done =
                read_nets(child, "", out_.tree.add(node, HostTree::Level::device), numa);
            !done) {
          return done;
        }
      }
    }
    return {};
  }

  // Recursion is bounded by kMaxXmlDepth.
  Result<void> read_pci(pugi::xml_node pci, int parent, int numa) {
    const bool is_gpu =
        pci.child("gpu") || (!out_.has_gpu_elements && gpu_class(pci) && !foreign_graphics(pci));
    const bool is_nic = pci.child("nic") || has_class(pci, "0x02");
    const int node =
        out_.tree.add(parent, is_gpu || is_nic ? HostTree::Level::device : HostTree::Level::bridge);
    const std::string bus_id = normalize_bus_id(pci.attribute("busid").value());
    if (is_gpu) {
      if (Result<void> done = read_gpu(pci, bus_id, node, numa); !done) return done;
    } else if (gpu_class(pci)) {
      out_.warnings.add("PCI device " + bus_id +
                        " has the class of a GPU but no <gpu> element and is left out");
    }
    if (is_nic && !pci.child("nic").child("net")) {
      if (Result<void> done = add_nic(pci, {bus_id, bus_id, numa, 0, node}); !done) return done;
    }
    for (const pugi::xml_node child : pci.children()) {
      const std::string_view name = child.name();
      Result<void> done;
      if (name == "pci") done = read_pci(child, node, numa);
      if (name == "nic") done = read_nets(child, bus_id, node, numa);
      if (!done) return done;
    }
    return {};
  }

  // A graphics device of a vendor without accelerators, such as the VGA of a management controller.
  static bool foreign_graphics(pugi::xml_node pci) {
    const std::optional<std::uint32_t> vendor = parse_hex(pci.attribute("vendor").value());
    return vendor && *vendor != 0 && *vendor != 0xffff && vendor_word(*vendor).empty();
  }

  Result<void> read_nets(pugi::xml_node nic, const std::string& bus_id, int node, int numa) {
    for (const pugi::xml_node net : nic.children("net")) {
      // Mb/s; absent or not above 0: unknown.
      const std::optional<double> speed = leading_number(net.attribute("speed").value());
      std::string name = net.attribute("name").value();
      if (name.empty()) name = std::string("net") + net.attribute("dev").value();
      const double gbps = speed && *speed > 0 ? *speed / 8000 : 0;
      if (Result<void> done = add_nic(net, {std::move(name), bus_id, numa, gbps, node}); !done)
        return done;
    }
    return {};
  }

  Result<void> add_nic(pugi::xml_node where, HostNic nic) {
    if (auto room = document_.room(where, out_.nics.size(), limits::kMaxNics, "NICs"); !room)
      return room;
    out_.nics.push_back(std::move(nic));
    return {};
  }

  Result<void> read_gpu(pugi::xml_node pci, const std::string& bus_id, int node, int numa) {
    if (auto room = document_.room(pci, out_.gpus.size(), limits::kMaxChips, "GPUs"); !room)
      return room;
    NcclGpu gpu;
    gpu.element = pci.child("gpu");
    gpu.bus_id = bus_id;
    gpu.numa = numa;
    gpu.cpus = cpus_;
    gpu.tree_node = node;
    gpu.index = static_cast<int>(out_.gpus.size());
    if (gpu.element && gpu.element.attribute("dev")) {
      const Result<int> dev = document_.integer(gpu.element, "dev", 0, limits::kMaxChipIndex);
      if (!dev) return dev.error();
      gpu.index = *dev;
    } else if (gpu.element) {
      return document_.error(gpu.element, "attribute dev is missing");
    }
    read_identity(pci, gpu);
    gpu.link_gts = leading_number(pci.attribute("link_speed").value()).value_or(0);
    const auto width = parse_int(pci.attribute("link_width").value());
    if (width && *width > 0 && *width <= kWidestLink) gpu.link_width = static_cast<int>(*width);
    out_.gpus.push_back(std::move(gpu));
    return {};
  }

  void read_identity(pugi::xml_node pci, NcclGpu& gpu) const {
    const std::uint32_t vendor = parse_hex(pci.attribute("vendor").value()).value_or(0);
    const std::string_view gcn = gpu.element.attribute("gcn").value();
    gpu.vendor = vendor_word(vendor);
    if (gpu.vendor.empty()) gpu.vendor = version_ == 2 || !gcn.empty() ? "amd" : "nvidia";
    gpu.model = model_of_device(vendor, parse_hex(pci.attribute("device").value()).value_or(0));
    if (gpu.vendor == "amd") {
      gpu.lane_gbps = xgmi_gbps_of_arch(gcn);
    } else if (const auto sm = parse_int(gpu.element.attribute("sm").value());
               sm && *sm >= 0 && *sm < 1000) {
      gpu.lane_gbps = nvlink_gbps_of_sm(static_cast<int>(*sm));
    }
  }

  const XmlDocument& document_;
  int version_;
  std::string cpus_;  // of the <cpu> that is being read
  NcclMachine out_;
};

}  // namespace

Result<NcclMachine> read_nccl_machine(const XmlDocument& document) {
  const pugi::xml_attribute version = document.root().attribute("version");
  const std::optional<std::int64_t> number = parse_int(version.value());
  if (!number || (*number != 1 && *number != 2)) {
    return make_error(
        Errc::unsupported,
        document.where(document.root()) +
            ": version of the NCCL topology format must be 1 (NCCL) or 2 (RCCL), got " +
            quoted_excerpt(version.value()));
  }
  return NcclTreeReader(document, static_cast<int>(*number)).read();
}

}  // namespace chipweave::codec
