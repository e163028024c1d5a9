// SysfsProbe — `--probe auto`: AMD's KFD topology where there is one (it shows XGMI), else the PCI
// bus.
#pragma once

#include <string>

#include "node-agent/probes/amd/amd_probe.hpp"
#include "node-agent/probes/sysfs_tree.hpp"

namespace chipweave::agent {

class SysfsProbe final : public Probe {
 public:
  // root: "" for this machine, or a folder that holds a tree "sys/…".
  explicit SysfsProbe(const std::string& root);
  Result<domain::Observation> discover() override;
  bool changes() override;

 private:
  AmdProbe amd_;
  const SysfsTree tree_;
};

}  // namespace chipweave::agent
