// HostGpu, HostNic — the GPUs and NICs of a machine whose PCI tree a file describes, and their
// conversion to a topology. Shared by the NCCL and hwloc importers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/codec/text/warnings.hpp"
#include "common/codec/topology/hardware/device_models.hpp"
#include "common/codec/topology/hardware/host_tree.hpp"
#include "common/codec/topology/import.hpp"
#include "common/domain/topology_builder.hpp"

namespace chipweave::codec {

struct HostGpu {
  int index = 0;       // chip index
  std::string bus_id;  // "" unknown
  std::string vendor;  // "nvidia", "amd", ""
  std::string model;   // "" unknown
  std::string id;      // uuid
  int numa = -1;
  std::string cpus;  // the nearest: "0-19,40-59"; "" unknown
  int tree_node = 0;
  std::uint64_t memory_bytes = 0;
};

struct HostNic {
  std::string name;
  std::string bus_id;
  int numa = -1;
  double gbps = 0;  // 0 unknown
  int tree_node = 0;
};

// What such a file describes.
template <class Gpu>
struct HostMachine {
  std::vector<Gpu> gpus;  // in the order of the file
  std::vector<HostNic> nics;
  HostTree tree;
  bool intel = false;
  Warnings warnings;
};

// The chips, with options.model instead of the file's if it is given, and the machine's vendor and
// model.
template <class Gpu>
void add_chips(const std::vector<Gpu>& gpus, const ImportOptions& options,
               domain::TopologyBuilder& builder) {
  std::vector<std::string> vendors;
  std::vector<std::string> models;
  for (const HostGpu& gpu : gpus) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{gpu.index};
    chip.id = gpu.id;
    chip.pci = gpu.bus_id;
    chip.numa = gpu.numa;
    chip.memory_bytes = gpu.memory_bytes;
    chip.model = options.model.empty() ? gpu.model : options.model;
    vendors.push_back(gpu.vendor);
    models.push_back(chip.model);
    builder.add_chip(std::move(chip));
  }
  builder.vendor = common_text(vendors, "mixed");
  builder.model = common_text(models, "");
}

template <class Gpu>
HostFacts facts_of(const std::vector<Gpu>& gpus) {
  HostFacts out;
  for (const HostGpu& gpu : gpus) {
    if (!gpu.cpus.empty()) out.cpus[gpu.index] = gpu.cpus;
  }
  return out;
}

// The NICs, and the paths between all pairs of GPUs and from each NIC to each GPU.
template <class Gpu>
void add_host_paths(const HostTree& tree, const std::vector<Gpu>& gpus,
                    const std::vector<HostNic>& nics, domain::TopologyBuilder& builder) {
  for (auto a = gpus.begin(); a != gpus.end(); ++a) {
    for (auto b = std::next(a); b != gpus.end(); ++b) {
      builder.add_link(domain::ChipIndex{a->index}, domain::ChipIndex{b->index},
                       tree.path(a->tree_node, b->tree_node));
    }
  }
  for (const HostNic& nic : nics) {
    std::map<domain::ChipIndex, domain::LinkKind> paths;
    for (const HostGpu& gpu : gpus) {
      paths[domain::ChipIndex{gpu.index}] = tree.path(gpu.tree_node, nic.tree_node);
    }
    builder.add_nic(nic.name, nic.bus_id, nic.numa, nic.gbps, std::move(paths));
  }
}

}  // namespace chipweave::codec
