// HardwareProbe — the probe of whatever accelerators this machine has, with its NICs around them.
//
// The vendor is chosen anew as long as none was found, so that a driver that is installed later is
// met. Helper process only.
#pragma once

#include <memory>

#include "common/codec/agent/hardware_options.hpp"
#include "node-agent/probes/vendor_probe.hpp"

namespace chipweave::agent {

std::unique_ptr<VendorProbe> make_hardware_probe(const codec::HardwareOptions& options);

}  // namespace chipweave::agent
