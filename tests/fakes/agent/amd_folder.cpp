#include "tests/fakes/agent/amd_folder.hpp"

#include <array>
#include <cstdio>

namespace chipweave::agent {

const std::string PairOfMi300x::kFirst = "0000:11:00.0";
const std::string PairOfMi300x::kSecond = "0000:81:00.0";

void AmdFolder::generation(int number) const {
  write("/sys/class/kfd/kfd/topology/generation_id", std::to_string(number) + "\n");
}

void AmdFolder::cpu(int node) const {
  write(nodes() + std::to_string(node) + "/properties", "cpu_cores_count 96\nsimd_count 0\n");
}

void AmdFolder::gpu(const FakeGpu& g) const {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  std::sscanf(g.pci.c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function);
  const std::string at = nodes() + std::to_string(g.node);
  write(at + "/gpu_id", std::to_string(1000 + g.node) + "\n");
  write(at + "/properties", "cpu_cores_count 0\nsimd_count 1216\nvendor_id 4098\ndevice_id " +
                                std::to_string(g.device_id) + "\nlocation_id " +
                                std::to_string(bus << 8U | device << 3U | function) + "\ndomain " +
                                std::to_string(domain) + "\ndrm_render_minor " +
                                std::to_string(g.minor) + "\nhive_id 77\nunique_id " +
                                std::to_string(g.unique_id) + "\ngfx_target_version " +
                                std::to_string(g.gfx_version) + "\nnum_xcc 8\n");
  write(at + "/mem_banks/0/properties",
        "heap_type 1\nsize_in_bytes " + std::to_string(g.memory_bytes) + "\n");
}

void AmdFolder::entry(const std::string& folder, const std::string& text) const {
  int next = 0;
  while (std::filesystem::exists(root() + folder + "/" + std::to_string(next))) ++next;
  write(folder + "/" + std::to_string(next) + "/properties", text);
}

void AmdFolder::kfd_link(int from, int to, int type, int weight, int min_mbps, int max_mbps) const {
  entry(nodes() + std::to_string(from) + "/io_links",
        "type " + std::to_string(type) + "\nversion_major 0\nnode_from " + std::to_string(from) +
            "\nnode_to " + std::to_string(to) + "\nweight " + std::to_string(weight) +
            "\nmin_bandwidth " + std::to_string(min_mbps) + "\nmax_bandwidth " +
            std::to_string(max_mbps) + "\nflags 1\n");
}

void AmdFolder::xgmi(int a, int b, int lanes) const {
  kfd_link(a, b, 11, 15, 50000, 50000 * lanes);
  kfd_link(b, a, 11, 15, 50000, 50000 * lanes);
}

void AmdFolder::to_cpu(int gpu, int cpu, int mbps) const {
  kfd_link(gpu, cpu, 2, 20, 0, mbps);
  kfd_link(cpu, gpu, 2, 20, 0, mbps);
}

std::string AmdFolder::package(const std::string& route, int numa, int device_id) const {
  std::array<char, 16> id{};
  std::snprintf(id.data(), id.size(), "0x%04x", static_cast<unsigned>(device_id));
  device(route, "0x120000", "0x1002", id.data(), numa);
  return bus(route.substr(route.find_last_of('/') + 1));
}

void AmdFolder::ras(const std::string& pci, const std::string& block,
                    const std::string& text) const {
  write(bus(pci) + "/ras/" + block + "_err_count", text);
}

PairOfMi300x::PairOfMi300x() {
  generation(1);
  cpu(0);
  cpu(1);
  package("pci0000:10/0000:10:01.0/" + kFirst, 0);
  package("pci0000:80/0000:80:01.0/" + kSecond, 1);
  gpu({2, kFirst, 128, 0xa1});
  gpu({3, kSecond, 129, 0xa2});
  xgmi(2, 3);
  to_cpu(2, 0, 64000);
  to_cpu(3, 1, 64000);
}

}  // namespace chipweave::agent
