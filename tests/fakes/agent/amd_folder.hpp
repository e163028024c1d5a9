// AmdFolder — an invented AMD machine: its KFD topology and its PCI devices, file by file. Keys and
// figures are those that recorded trees have; amdgpu's own files are as the kernel's sources print
// them.
#pragma once

#include <cstdint>
#include <string>

#include "tests/fakes/agent/sys_folder.hpp"

namespace chipweave::agent {

struct FakeGpu {
  int node = 0;
  std::string pci;  // as KFD lists it: partitions of a package count in the function
  int minor = 128;
  std::uint64_t unique_id = 0;
  int device_id = 0x74a1;
  int gfx_version = 90402;
  std::uint64_t memory_bytes = std::uint64_t{192} << 30U;
};

class AmdFolder : public SysFolder {
 public:
  static std::string nodes() { return "/sys/class/kfd/kfd/topology/nodes/"; }
  static std::string bus(const std::string& pci) { return "/sys/bus/pci/devices/" + pci; }

  void generation(int number) const;
  void cpu(int node) const;
  void gpu(const FakeGpu& gpu) const;
  // One direction; types and weights are KFD's: 2 PCIe, 11 XGMI; 15 a hop of XGMI.
  void kfd_link(int from, int to, int type, int weight, int min_mbps, int max_mbps) const;
  void xgmi(int a, int b, int lanes = 1) const;
  void to_cpu(int gpu, int cpu, int mbps) const;
  // A package on the bus. Returns its folder below the bus.
  std::string package(const std::string& route, int numa, int device_id = 0x74a1) const;
  void ras(const std::string& pci, const std::string& block, const std::string& text) const;

 private:
  void entry(const std::string& folder, const std::string& text) const;
};

// Two MI300X on two sockets, joined by one XGMI link: nodes 2 and 3, 0000:11:00.0 and 0000:81:00.0.
class PairOfMi300x : public AmdFolder {
 public:
  PairOfMi300x();
  static const std::string kFirst;
  static const std::string kSecond;
};

}  // namespace chipweave::agent
