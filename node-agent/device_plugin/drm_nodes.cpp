#include "node-agent/device_plugin/drm_nodes.hpp"

#include "common/io/files.hpp"

namespace chipweave::device_plugin {
namespace {

constexpr std::size_t kMaxNodesOfGpu = 64;

// A PCI address is the name of a folder, and comes from another program.
bool is_pci_address(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef:.") == std::string::npos &&
         text.find("..") == std::string::npos;
}

}  // namespace

std::vector<std::vector<std::string>> drm_nodes(const domain::NodeTopology& topology,
                                                const std::string& sysfs_root) {
  std::vector<std::vector<std::string>> out;
  for (const domain::Chip& chip : topology.chips()) {
    auto& nodes = out.emplace_back();
    if (!is_pci_address(chip.pci)) continue;
    const auto names =
        io::folder_names(sysfs_root + "/sys/bus/pci/devices/" + chip.pci + "/drm", kMaxNodesOfGpu);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (name.starts_with("card") || name.starts_with("renderD"))
        nodes.push_back("/dev/dri/" + name);
    }
  }
  return out;
}

}  // namespace chipweave::device_plugin
