// FakeHost — a host with every device node that is not said to be missing.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node-agent/sources/host_devices.hpp"

namespace chipweave::agent {

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
  std::vector<std::string> drm_nodes(const std::string& pci) const override {
    const auto found = drm.find(pci);
    return found == drm.end() ? std::vector<std::string>() : found->second;
  }
  std::string pcie_root(const std::string& pci) const override {
    return pci < "0000:80" ? "pci0000:00" : "pci0000:80";
  }

  std::set<std::string> missing;
  std::map<std::string, std::string> links;
  std::map<std::string, int> minors;                    // by PCI address
  std::map<std::string, std::vector<std::string>> drm;  // by PCI address
};

}  // namespace chipweave::agent
