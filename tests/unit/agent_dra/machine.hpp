// A machine for tests of the DRA driver: eight GPUs in two NVLink islands of four, and a host with
// their device nodes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/domain/topology_builder.hpp"
#include "node-agent/app/node_state.hpp"
#include "node-agent/dra/host_devices.hpp"

namespace chipweave::agent::dra {

inline const std::string kDriver = "gpu.chipweave.dev";
inline const std::string kNode = "n1";

NodeState two_islands(const std::set<int>& unhealthy = {});
domain::Chip bare_chip(int index);

class FakeHost final : public HostDevices {
 public:
  std::optional<std::string> node_at(const std::string& path) const override {
    if (missing.contains(path)) return std::nullopt;
    const auto link = links.find(path);
    return link == links.end() ? path : link->second;
  }
  std::optional<int> nvidia_minor(const std::string& pci) const override {
    const auto found = minors.find(pci);
    return found == minors.end() ? std::nullopt : std::optional(found->second);
  }
  std::string pcie_root(const std::string& pci) const override {
    return pci < "0000:80" ? "pci0000:00" : "pci0000:80";
  }

  std::set<std::string> missing;
  std::map<std::string, std::string> links;
  std::map<std::string, int> minors;
};

}  // namespace chipweave::agent::dra
