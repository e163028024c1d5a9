#include "node-agent/probes/amd/amd_machine.hpp"

#include <map>
#include <set>
#include <utility>

#include "common/codec/topology/hardware/device_models.hpp"
#include "common/codec/topology/import.hpp"
#include "common/codec/topology/kfd/kfd_tree.hpp"
#include "node-agent/probes/amd/kfd_files.hpp"

namespace chipweave::agent {
namespace {

constexpr const char* kPlatform = "/sys/devices/platform";

// "amdgpu_xcp_7"; newer kernels "amdgpu_xcp.7".
bool is_partition_device(const std::string& name) { return name.rfind("amdgpu_xcp", 0) == 0; }

// Names of render nodes ("renderD128") below the packages and the platform devices of partitions.
std::set<std::string> render_nodes(const SysfsTree& tree, const HostView& host) {
  std::set<std::string> out;
  const auto take = [&](const std::string& device) {
    for (const std::string& name : tree.names(device + "/drm")) {
      if (name.rfind("renderD", 0) == 0) out.insert(name);
    }
  };
  for (const PciDevice& device : host.devices) {
    if (accelerator_vendor(device) == domain::VendorId::amd) take(kPciDevices + device.address);
  }
  for (const std::string& name : tree.names(kPlatform)) {
    if (is_partition_device(name)) take(std::string(kPlatform) + "/" + name);
  }
  return out;
}

AmdChip describe(const codec::KfdNode& node, const domain::Chip& chip, const HostView& host) {
  AmdChip out;
  out.key = chip.id.empty() ? chip.pci : chip.id;
  out.package = node.unique_id != 0 ? std::to_string(node.unique_id) : node.bus_id;
  if (const PciDevice* device = host.find(node.bus_id)) out.pci = device->address;
  out.gfx = codec::arch_of_gfx_version(node.gfx_version);
  out.render_minor = node.render_minor;
  return out;
}

void warn_of_render_nodes(const std::set<std::string>& there, AmdMachine& machine) {
  if (there.empty()) return;  // a tree without them
  for (std::size_t i = 0; i < machine.chips.size(); ++i) {
    const std::string name = "renderD" + std::to_string(machine.chips[i].render_minor);
    if (there.count(name) > 0) continue;
    machine.warnings.push_back("chip " + std::to_string(i) + " has no render node " + name +
                               ": it cannot be mounted into a container");
  }
}

using Keys = std::map<std::string, std::set<std::string>>;  // of chips, by package

Keys keys_by_package(const AmdMachine& machine) {
  Keys out;
  for (const AmdChip& chip : machine.chips) out[chip.package].insert(chip.key);
  return out;
}

}  // namespace

Result<AmdMachine> read_amd_machine(const SysfsTree& tree, const HostView& host) {
  const Result<codec::FileTree> files = read_kfd_files(tree);
  if (!files) return files.error();
  const Result<codec::KfdTree> kfd = codec::read_kfd_tree(*files);
  if (!kfd) return kfd.error();
  std::vector<const codec::KfdNode*> gpus;
  for (const auto& [number, node] : kfd->nodes) {
    if (node.is_gpu) gpus.push_back(&node);
  }
  if (gpus.empty()) return make_error(Errc::not_found, "KFD lists no usable GPU");
  auto imported = codec::import_kfd_tree(*files, {});
  if (!imported) return std::move(imported).error();
  AmdMachine out{std::move(imported->topology), {}, std::move(imported->warnings)};
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    out.chips.push_back(describe(*gpus[i], out.topology.chip(static_cast<int>(i)), host));
  }
  warn_of_render_nodes(render_nodes(tree, host), out);
  return out;
}

std::optional<std::vector<int>> lost_chips(const AmdMachine& before, const AmdMachine& now) {
  const Keys had = keys_by_package(before);
  const Keys has = keys_by_package(now);
  for (const auto& [package, keys] : has) {
    const auto same = had.find(package);
    if (same == had.end() || same->second != keys) return std::nullopt;
  }
  std::vector<int> out;
  for (std::size_t i = 0; i < before.chips.size(); ++i) {
    if (has.count(before.chips[i].package) == 0) out.push_back(static_cast<int>(i));
  }
  return out;
}

}  // namespace chipweave::agent
