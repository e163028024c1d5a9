// ProbeWithHost — adds the host side to a vendor's probe: NICs and the paths to them, NUMA nodes,
// neighbours in the network. For vendors whose library knows only its own chips.
#pragma once

#include <memory>

#include "common/codec/agent/hardware_options.hpp"
#include "node-agent/probes/host/host_neighbours.hpp"
#include "node-agent/probes/host/host_view.hpp"
#include "node-agent/probes/vendor_probe.hpp"

namespace chipweave::agent {

class ProbeWithHost final : public VendorProbe {
 public:
  ProbeWithHost(std::unique_ptr<VendorProbe> chips, const codec::HardwareOptions& options);

  Result<domain::Observation> discover() override;
  bool changes() override;
  void wait(std::chrono::milliseconds longest) override { chips_->wait(longest); }
  std::vector<domain::ChipMetrics> sample() override { return chips_->sample(); }
  std::vector<domain::Signal> take_events() override { return chips_->take_events(); }
  bool outdated() const override { return chips_->outdated(); }

 private:
  std::unique_ptr<VendorProbe> chips_;
  const SysfsTree tree_;
  HostWatch host_;
  LldpOptions lldp_;
};

}  // namespace chipweave::agent
