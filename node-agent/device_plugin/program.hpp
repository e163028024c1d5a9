// Wires the device plugin's parts together on one loop.
#pragma once

#include "node-agent/device_plugin/flags.hpp"

namespace chipweave::device_plugin {

// Runs until SIGTERM or SIGINT; returns the exit status.
int run_device_plugin(const Flags& flags);

}  // namespace chipweave::device_plugin
