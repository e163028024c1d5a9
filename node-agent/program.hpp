// Wires the agent's parts together: machine source and health file → agent → reporter and metrics,
// on one loop.
#pragma once

#include "node-agent/flags.hpp"

namespace chipweave::agent {

// Runs until SIGTERM or SIGINT; returns the exit status.
int run_agent(const Flags& flags);

}  // namespace chipweave::agent
