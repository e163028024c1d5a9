// Machines of NVIDIA's nvml-mock: YAML profiles that describe the GPUs a test cluster pretends to
// have. Reads what the NVML probe can see of them; a malformed profile throws YAML::Exception.
#pragma once

#include <yaml-cpp/yaml.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/codec/topology/hardware/pci.hpp"
#include "common/domain/topology_builder.hpp"

namespace chipweave::agent {

struct MockRootComplex {
  std::string id;
  int numa = -1;
};

inline std::map<std::string, MockRootComplex> mock_root_complexes(const YAML::Node& profile) {
  std::map<std::string, MockRootComplex> out;  // by bus id of a device
  for (const YAML::Node& complex : profile["pcie_topology"]["root_complexes"]) {
    for (const YAML::Node& device : complex["devices"]) {
      out[codec::normalize_bus_id(device.as<std::string>())] = {complex["id"].as<std::string>(),
                                                                complex["numa_node"].as<int>(-1)};
    }
  }
  return out;
}

inline Result<domain::NodeTopology> mock_machine(const std::string& text) {
  const YAML::Node profile = YAML::Load(text);
  const std::map<std::string, MockRootComplex> complexes = mock_root_complexes(profile);
  domain::TopologyBuilder builder;
  builder.vendor = "nvidia";
  std::vector<std::pair<domain::ChipIndex, MockRootComplex>> chips;
  for (const YAML::Node& device : profile["devices"]) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{device["index"].as<int>()};
    const auto complex =
        complexes.at(codec::normalize_bus_id(device["pci"]["bus_id"].as<std::string>()));
    chip.numa = complex.numa;
    for (const auto& [other, of_other] : chips) {
      const bool near = complex.numa >= 0 && complex.numa == of_other.numa;
      builder.add_link(other, chip.index,
                       complex.id == of_other.id ? domain::LinkKind::phb
                       : near                    ? domain::LinkKind::node
                                                 : domain::LinkKind::sys);
    }
    chips.emplace_back(chip.index, complex);
    builder.add_chip(std::move(chip));
  }
  const YAML::Node nvlink = profile["nvlink"];
  const int lanes = nvlink ? nvlink["links_per_gpu"].as<int>(0) : 0;
  if (lanes > 0 && nvlink["switches"].size() > 0) {
    std::vector<domain::TopologyBuilder::Port> ports;
    for (const auto& [index, unused] : chips) ports.push_back({index, lanes, 0});
    builder.add_switch("NVSwitch", domain::LinkKind::nvswitch, std::move(ports));
  }
  return std::move(builder).build();
}

}  // namespace chipweave::agent
