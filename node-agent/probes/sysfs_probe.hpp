// SysfsProbe — `--probe auto`: AMD's KFD topology where there is one (it shows XGMI), else the PCI
// bus.
#pragma once

#include <string>

#include "node-agent/app/probe.hpp"
#include "node-agent/probes/sysfs_tree.hpp"

namespace chipweave::agent {

class SysfsProbe final : public Probe {
 public:
  // root: "" for this machine, or a folder that holds a tree "sys/…".
  explicit SysfsProbe(const std::string& root) : tree_(root) {}
  Result<domain::Observation> discover() override;
  bool changes() override { return fingerprint() != seen_; }

 private:
  std::string fingerprint() const;
  SysfsTree tree_;
  std::string seen_;
};

}  // namespace chipweave::agent
