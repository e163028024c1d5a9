#include "tests/fakes/agent/sys_folder.hpp"

#include <filesystem>
#include <fstream>

namespace chipweave::agent {

void SysFolder::write(const std::string& path, const std::string& text) const {
  const std::filesystem::path file = root() + path;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

void SysFolder::link(const std::string& path, const std::string& target) const {
  const std::filesystem::path file = root() + path;
  std::filesystem::create_directories(file.parent_path());
  std::filesystem::create_directories(root() + target);
  std::filesystem::create_directory_symlink(root() + target, file);
}

void SysFolder::remove(const std::string& path) const {
  std::filesystem::remove_all(root() + path);
}

std::string SysFolder::device(const std::string& route, const std::string& cls,
                              const std::string& vendor, const std::string& id, int numa) const {
  std::string at = "/sys/devices/" + route;
  write(at + "/class", cls + "\n");
  write(at + "/vendor", vendor + "\n");
  write(at + "/device", id + "\n");
  write(at + "/numa_node", std::to_string(numa) + "\n");
  link("/sys/bus/pci/devices/" + route.substr(route.find_last_of('/') + 1), at);
  return at;
}

void SysFolder::interface(const std::string& at, const std::string& name, int number) const {
  const std::string net = at + "/net/" + name;
  write(net + "/ifindex", std::to_string(number) + "\n");
  write(net + "/carrier", "1\n");
  write(net + "/carrier_changes", "2\n");
  write(net + "/speed", "400000\n");
  link("/sys/class/net/" + name, net);
}

std::string SysFolder::rdma(const std::string& at, const std::string& name) const {
  std::string port = at + "/infiniband/" + name + "/ports/1";
  write(at + "/infiniband/" + name + "/node_guid", "b8ce:f603:00aa:bb01\n");
  write(port + "/state", "4: ACTIVE\n");
  write(port + "/phys_state", "5: LinkUp\n");
  write(port + "/link_layer", "Ethernet\n");
  write(port + "/rate", "400 Gb/sec (4X NDR)\n");
  write(port + "/counters/link_downed", "0\n");
  return port;
}

std::string SysFolder::nic(const std::string& route, const std::string& rdma_name,
                           const std::string& interface_name, int number, int numa) const {
  std::string at = device(route, "0x020000", "0x15b3", "0x1021", numa);
  interface(at, interface_name, number);
  rdma(at, rdma_name);
  return at;
}

}  // namespace chipweave::agent
