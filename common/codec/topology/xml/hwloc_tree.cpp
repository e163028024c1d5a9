#include "common/codec/topology/xml/hwloc_tree.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/text/cpu_mask.hpp"
#include "common/codec/text/numbers.hpp"
#include "common/codec/topology/hardware/device_models.hpp"
#include "common/codec/topology/hardware/pci.hpp"

namespace chipweave::codec {
namespace {

// "0302 [10de:1db1] …"
struct PciType {
  std::string_view class_code;
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
};

PciType pci_type(pugi::xml_node object) {
  const std::string_view text = object.attribute("pci_type").value();
  PciType out{text.substr(0, 4), 0, 0};
  const std::size_t open = text.find('[');
  if (open != std::string_view::npos && text.size() >= open + 10) {
    out.vendor = parse_hex(text.substr(open + 1, 4)).value_or(0);
    out.device = parse_hex(text.substr(open + 6, 4)).value_or(0);
  }
  return out;
}

std::string_view info(pugi::xml_node object, std::string_view name) {
  for (const pugi::xml_node child : object.children("info")) {
    if (name == child.attribute("name").value()) return child.attribute("value").value();
  }
  return "";
}

std::string_view type_of(pugi::xml_node object) { return object.attribute("type").value(); }

// nullopt for a NUMANode without a usable number.
std::optional<int> numa_of(pugi::xml_node numa_node) {
  const auto id = parse_int(numa_node.attribute("os_index").value());
  const bool usable = id && *id >= 0 && *id <= limits::kMaxNumaNode;
  return usable ? std::optional(static_cast<int>(*id)) : std::nullopt;
}

// The NUMA node that the memory children of an object name (hwloc 2 and later); nullopt if it has
// none.
std::optional<int> memory_child(pugi::xml_node object) {
  for (const pugi::xml_node child : object.children("object")) {
    if (type_of(child) == "NUMANode") {
      if (const std::optional<int> id = numa_of(child)) return id;
    }
    if (type_of(child) == "MemCache") {
      if (const std::optional<int> below = memory_child(child)) return below;
    }
  }
  return std::nullopt;
}

// "nvml3" → {"nvml", 3}; "opencl0d2" → {"opencl", 2}: the device of the first platform. Empty word:
// no such device.
std::pair<std::string_view, int> tool_number(std::string_view name) {
  for (const std::string_view word : {"nvml", "rsmi", "cuda", "opencl0d"}) {
    if (name.substr(0, word.size()) != word) continue;
    const auto number = parse_unsigned(name.substr(word.size()));
    if (!number || *number >= (1U << 20U)) return {};
    return {word.substr(0, word == "opencl0d" ? 6 : word.size()), static_cast<int>(*number)};
  }
  return {};
}

std::uint64_t memory_bytes(pugi::xml_node os_device) {
  for (const std::string_view key :
       {"CUDAGlobalMemorySize", "RSMIVRAMSize", "OpenCLGlobalMemorySize"}) {
    const std::optional<double> kib = leading_number(info(os_device, key));
    if (kib && *kib > 0 && *kib < 1e12) return static_cast<std::uint64_t>(*kib) * 1024;
  }
  return 0;
}

class HwlocTreeReader {
 public:
  explicit HwlocTreeReader(const XmlDocument& document) : document_(document) {}

  Result<HwlocMachine> read() {
    if (Result<void> done = walk(document_.root(), 0, -1); !done) return std::move(done).error();
    if (out_.gpus.empty()) {
      if (Result<void> done = use_lone_devices(); !done) return std::move(done).error();
    }
    if (out_.gpus.empty()) use_integrated_gpu();
    if (out_.gpus.empty()) {
      return document_.error(
          document_.root(),
          "no NVIDIA or AMD GPU (exported without I/O devices? use lstopo --whole-io)");
    }
    return std::move(out_);
  }

 private:
  // Recursion is bounded by kMaxXmlDepth. node: of the host tree; numa: the enclosing NUMA node.
  Result<void> walk(pugi::xml_node parent, int node, int numa) {
    for (const pugi::xml_node object : parent.children("object")) {
      const std::string_view type = type_of(object);
      Result<void> done;
      if (type == "PCIDev") {
        done = read_device(object, node, numa);
      } else if (type == "Bridge") {
        const bool host =
            std::string_view(object.attribute("bridge_type").value()).substr(0, 1) == "0";
        done = walk(object,
                    out_.tree.add(
                        node, host ? HostTree::Level::root_complex : HostTree::Level::bridge, numa),
                    numa);
      } else if (type == "OSDev") {
        lone_.push_back(object);
      } else {
        if (info(object, "CPUVendor") == "GenuineIntel") out_.intel = true;
        int inner = numa;
        // Older files nest everything of a NUMA node inside it; newer ones list it as memory
        // beside its CPUs.
        if (type == "NUMANode") {
          inner = numa_of(object).value_or(-1);
        } else if (const std::optional<int> memory = memory_child(object)) {
          inner = *memory;
        }
        const std::string outer = std::exchange(cpus_, cpus_of(object));
        done = walk(object, node, inner);
        cpus_ = outer;
      }
      if (!done) return done;
    }
    return {};
  }

  // Those of the enclosing object where it names none.
  std::string cpus_of(pugi::xml_node object) const {
    const pugi::xml_attribute mask = object.attribute("cpuset");
    return mask ? cpu_list_of_mask(mask.value()) : cpus_;
  }

  Result<void> read_device(pugi::xml_node device, int parent, int numa) {
    const PciType type = pci_type(device);
    const int node = out_.tree.add(parent, HostTree::Level::device);
    const auto gp_index = parse_unsigned(device.attribute("gp_index").value());
    if (type.class_code == "0680" && type.vendor == kPciNvidia && gp_index)
      out_.nvswitch_objects.insert(*gp_index);
    if (type.class_code.substr(0, 2) == "02") return add_nic(device, node, numa);
    const bool accelerator =
        type.class_code.substr(0, 2) == "03" || type.class_code.substr(0, 2) == "12";
    if (!accelerator || vendor_word(type.vendor).empty()) return {};
    if (Result<void> room = check_room(device); !room) return room;
    HwlocGpu gpu;
    gpu.bus_id = normalize_bus_id(device.attribute("pci_busid").value());
    gpu.vendor = vendor_word(type.vendor);
    gpu.model = model_of_device(type.vendor, type.device);
    gpu.numa = numa;
    gpu.cpus = cpus_;
    gpu.tree_node = node;
    gpu.pci_gbps = leading_number(device.attribute("pci_link_speed").value()).value_or(0);
    out_.gpus.push_back(std::move(gpu));
    if (gp_index) out_.gpu_of_object[*gp_index] = static_cast<int>(out_.gpus.size()) - 1;
    for (const pugi::xml_node child : device.children("object")) {
      if (type_of(child) == "OSDev") describe(child, static_cast<int>(out_.gpus.size()) - 1);
    }
    return {};
  }

  Result<void> check_room(pugi::xml_node where) const {
    return document_.room(where, out_.gpus.size(), limits::kMaxChips, "GPUs");
  }

  // Adds the facts of an OS device of a GPU.
  void describe(pugi::xml_node os_device, int position) {
    HwlocGpu& gpu = out_.gpus[static_cast<std::size_t>(position)];
    const auto [tool, number] = tool_number(os_device.attribute("name").value());
    if (!tool.empty()) gpu.numbers.emplace(tool, number);
    if (const auto gp_index = parse_unsigned(os_device.attribute("gp_index").value())) {
      out_.gpu_of_object[*gp_index] = position;
    }
    const auto fill = [&](std::string& field, std::string_view key) {
      if (field.empty()) field = info(os_device, key);
    };
    fill(gpu.model, "GPUModel");
    fill(gpu.id, "NVIDIAUUID");
    fill(gpu.id, "AMDUUID");
    fill(gpu.serial, "AMDSerial");
    if (gpu.memory_bytes == 0) gpu.memory_bytes = memory_bytes(os_device);
    const std::string_view maker = info(os_device, "GPUVendor");
    if (gpu.vendor.empty() && maker.find("NVIDIA") != std::string_view::npos) gpu.vendor = "nvidia";
    if (gpu.vendor.empty() && maker.find("AMD") != std::string_view::npos) gpu.vendor = "amd";
    if (gpu.vendor.empty() && maker.find("Advanced Micro") != std::string_view::npos)
      gpu.vendor = "amd";
  }

  // One NIC per PCI function, named by its RDMA name (mlx5_0) if it has one, else its network name,
  // else its bus id.
  Result<void> add_nic(pugi::xml_node device, int node, int numa) {
    if (auto room = document_.room(device, out_.nics.size(), limits::kMaxNics, "NICs"); !room)
      return room;
    HostNic nic{"", normalize_bus_id(device.attribute("pci_busid").value()), numa, 0, node};
    for (const pugi::xml_node child : device.children("object")) {
      if (type_of(child) != "OSDev") continue;
      const bool rdma = !info(child, "NodeGUID").empty();
      if (nic.name.empty() || rdma) nic.name = child.attribute("name").value();
    }
    if (nic.name.empty()) nic.name = nic.bus_id;
    out_.nics.push_back(std::move(nic));
    return {};
  }

  // GPUs without a PCI device in the file: those of the first tool that lists any.
  Result<void> use_lone_devices() {
    for (const std::string_view tool : {"nvml", "rsmi", "cuda", "opencl"}) {
      for (const pugi::xml_node device : lone_) {
        if (tool_number(device.attribute("name").value()).first != tool) continue;
        if (Result<void> room = check_room(device); !room) return room;
        out_.gpus.emplace_back().tree_node = out_.tree.add(0, HostTree::Level::device);
        describe(device, static_cast<int>(out_.gpus.size()) - 1);
      }
      if (out_.gpus.empty()) continue;
      out_.warnings.add("the file has no PCI devices: GPUs are taken from " + std::string(tool) +
                        ", host paths are unknown (SYS)");
      return {};
    }
    return {};
  }

  // A superchip's GPU is not a PCI device; only the product name shows that there is one.
  void use_integrated_gpu() {
    const pugi::xml_node machine = document_.root().child("object");
    if (info(machine, "DMIProductName") != "NVIDIA_DGX_Spark") return;
    HwlocGpu& gpu = out_.gpus.emplace_back();
    gpu.tree_node = out_.tree.add(0, HostTree::Level::device);
    gpu.vendor = "nvidia";
    gpu.model = "GB10";
    gpu.numa = 0;
    out_.warnings.add(
        "the file has no devices: the one integrated GPU is taken from the product name");
  }

  const XmlDocument& document_;
  HwlocMachine out_;
  std::string cpus_;  // of the object that is being read
  std::vector<pugi::xml_node> lone_;
};

}  // namespace

void number_chips(HwlocMachine& machine) {
  std::set<int> distinct;
  bool all = true;
  for (HwlocGpu& gpu : machine.gpus) {
    std::optional<int> number;
    for (const std::string_view tool : {"nvml", "rsmi", "cuda", "opencl"}) {
      const auto it = gpu.numbers.find(tool);
      if (!number && it != gpu.numbers.end()) number = it->second;
    }
    all = all && number;
    gpu.index = number.value_or(0);
    distinct.insert(gpu.index);
  }
  if (all && distinct.size() == machine.gpus.size()) return;
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) machine.gpus[i].index = static_cast<int>(i);
  machine.warnings.add(
      "GPUs are numbered in the order of the file, as no tool's numbers cover all of them");
}

Result<HwlocMachine> read_hwloc_machine(const XmlDocument& document) {
  return HwlocTreeReader(document).read();
}

}  // namespace chipweave::codec
