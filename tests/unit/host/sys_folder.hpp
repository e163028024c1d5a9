// SysFolder — an invented machine's /sys in a temporary folder, file by file. No real machine
// stands behind it; the layout is the kernel's.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "node-agent/probes/sysfs/sysfs_tree.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {

class SysFolder {
 public:
  const std::string& root() const { return folder_.path(); }
  SysfsTree tree() const { return SysfsTree(root()); }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  // target: of the machine, too ("/sys/devices/…").
  void link(const std::string& path, const std::string& target) const {
    const std::filesystem::path file = root() + path;
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::create_directories(root() + target);
    std::filesystem::create_directory_symlink(root() + target, file);
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(root() + path); }

  // route: below /sys/devices, ending in the address. Returns the device's folder.
  std::string device(const std::string& route, const std::string& cls, const std::string& vendor,
                     const std::string& id, int numa) const {
    std::string at = "/sys/devices/" + route;
    write(at + "/class", cls + "\n");
    write(at + "/vendor", vendor + "\n");
    write(at + "/device", id + "\n");
    write(at + "/numa_node", std::to_string(numa) + "\n");
    link("/sys/bus/pci/devices/" + route.substr(route.find_last_of('/') + 1), at);
    return at;
  }
  // A network interface of the device at a folder.
  void interface(const std::string& at, const std::string& name, int number) const {
    const std::string net = at + "/net/" + name;
    write(net + "/ifindex", std::to_string(number) + "\n");
    write(net + "/carrier", "1\n");
    write(net + "/carrier_changes", "2\n");
    write(net + "/speed", "400000\n");
    link("/sys/class/net/" + name, net);
  }
  // An active RoCE device with one port at a folder. Returns the port's folder.
  std::string rdma(const std::string& at, const std::string& name) const {
    std::string port = at + "/infiniband/" + name + "/ports/1";
    write(at + "/infiniband/" + name + "/node_guid", "b8ce:f603:00aa:bb01\n");
    write(port + "/state", "4: ACTIVE\n");
    write(port + "/phys_state", "5: LinkUp\n");
    write(port + "/link_layer", "Ethernet\n");
    write(port + "/rate", "400 Gb/sec (4X NDR)\n");
    write(port + "/counters/link_downed", "0\n");
    return port;
  }
  // A ConnectX adapter with an interface and an RDMA device. Returns the device's folder.
  std::string nic(const std::string& route, const std::string& rdma_name,
                  const std::string& interface_name, int number, int numa) const {
    std::string at = device(route, "0x020000", "0x15b3", "0x1021", numa);
    interface(at, interface_name, number);
    rdma(at, rdma_name);
    return at;
  }

 private:
  io::TempFolder folder_;
};

}  // namespace chipweave::agent
