// make_hardware_probe — the probe of this machine's accelerators, with its NICs around them.
//
// With `auto`, vendors are tried until one is found, so that a driver that is installed later is
// noticed. Probe process only.
#pragma once

#include <memory>

#include "common/codec/agent/hardware_options.hpp"
#include "node-agent/probes/vendor_probe.hpp"

namespace chipweave::agent {

std::unique_ptr<VendorProbe> make_hardware_probe(const codec::HardwareOptions& options);

}  // namespace chipweave::agent
