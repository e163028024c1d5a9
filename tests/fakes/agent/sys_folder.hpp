// SysFolder — the /sys of an invented machine in a temporary folder, file by file. Not modelled on
// any real machine; the layout is the kernel's.
#pragma once

#include <string>

#include "node-agent/probes/sysfs/sysfs_tree.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {

class SysFolder {
 public:
  const std::string& root() const { return folder_.path(); }
  SysfsTree tree() const { return SysfsTree(root()); }

  void write(const std::string& path, const std::string& text) const;
  // target: of the machine, too ("/sys/devices/…").
  void link(const std::string& path, const std::string& target) const;
  void remove(const std::string& path) const;

  // route: below /sys/devices, ending in the address. Returns the device's folder.
  std::string device(const std::string& route, const std::string& cls, const std::string& vendor,
                     const std::string& id, int numa) const;
  // A network interface of the device at a folder.
  void interface(const std::string& at, const std::string& name, int number) const;
  // An active RoCE device with one port at a folder. Returns the port's folder.
  std::string rdma(const std::string& at, const std::string& name) const;
  // A ConnectX adapter with an interface and an RDMA device. Returns the device's folder.
  std::string nic(const std::string& route, const std::string& rdma_name,
                  const std::string& interface_name, int number, int numa) const;

 private:
  io::TempFolder folder_;
};

}  // namespace chipweave::agent
