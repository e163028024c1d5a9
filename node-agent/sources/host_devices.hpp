// HostDevices — what those who hand over chips must know of the host beside the machine's topology:
// device nodes, NVIDIA's minor numbers, and where chips are on the PCI bus.
//
// Loop thread only. Nothing is cached: drivers may be loaded again.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace chipweave::agent {

class HostDevices {
 public:
  HostDevices() = default;
  HostDevices(const HostDevices&) = delete;
  HostDevices& operator=(const HostDevices&) = delete;
  virtual ~HostDevices() = default;

  // The device node that a path of the host is or leads to over symbolic links: "/dev/dri/card1".
  // nullopt: nothing is there.
  virtual std::optional<std::string> node_at(const std::string& path) const = 0;
  // Of the GPU with this PCI address, by NVIDIA's driver.
  virtual std::optional<int> nvidia_minor(const std::string& pci) const = 0;
  // "/dev/dri/card1", "/dev/dri/renderD129"; none for a chip that sysfs does not know.
  virtual std::vector<std::string> drm_nodes(const std::string& pci) const = 0;
  // "pci0000:3a"; empty if unknown.
  virtual std::string pcie_root(const std::string& pci) const = 0;
};

// Those of this machine. root: the folder where the host's /dev is, and its /sys and /proc unless
// they are those of this process; "": here.
class SystemDevices final : public HostDevices {
 public:
  explicit SystemDevices(std::string root) : root_(std::move(root)) {}
  std::optional<std::string> node_at(const std::string& path) const override;
  std::optional<int> nvidia_minor(const std::string& pci) const override;
  std::vector<std::string> drm_nodes(const std::string& pci) const override;
  std::string pcie_root(const std::string& pci) const override;

 private:
  std::string root_;
};

}  // namespace chipweave::agent
