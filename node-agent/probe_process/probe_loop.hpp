// The helper's work: look at the hardware, say what it sees, again and again until nobody listens.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "common/base/clock.hpp"
#include "node-agent/probes/vendor_probe.hpp"

namespace chipweave::agent {

struct ProbeLoopOptions {
  std::chrono::milliseconds look_every{500};
  std::chrono::milliseconds alive_every{1'000};
  // Whether anything seems new or not: not all that may change shows in changes().
  std::chrono::milliseconds look_again_every{60'000};
  // After a look that failed; doubles up to the second one.
  std::chrono::milliseconds retry_least{1'000};
  std::chrono::milliseconds retry_most{30'000};
};

// `write` takes whole lines (codec/agent/probe_line.hpp) and returns false when they reach nobody
// any more. A line is written when the probe sees something new, when a look fails for another
// reason than before, and else to show that we live. The probe's calls may hang: then so do we, and
// whoever listens notices the silence.
void run_probe_loop(VendorProbe& probe, const Clock& clock, const ProbeLoopOptions& options,
                    const std::function<bool(const std::string&)>& write);

}  // namespace chipweave::agent
