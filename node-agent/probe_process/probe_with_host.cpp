#include "node-agent/probe_process/probe_with_host.hpp"

#include <utility>

namespace chipweave::agent {

ProbeWithHost::ProbeWithHost(std::unique_ptr<VendorProbe> chips,
                             const codec::HardwareOptions& options)
    : chips_(std::move(chips)), tree_(options.sysfs_root), host_(tree_) {
  lldp_.lldpctl = options.lldpctl;
}

Result<domain::Observation> ProbeWithHost::discover() {
  auto seen = chips_->discover();
  if (!seen) return seen;
  const HostView view = host_.look();
  add_host(view, *seen);
  add_neighbours(tree_, view, lldp_, *seen);
  return seen;
}

bool ProbeWithHost::changes() {
  const bool chips = chips_->changes();
  return host_.changed() || chips;
}

}  // namespace chipweave::agent
