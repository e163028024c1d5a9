// The main loop of the probe process: reads the hardware and writes what it finds until its output
// is closed or the probe is outdated.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "common/base/clock.hpp"
#include "node-agent/probes/vendor_probe.hpp"

namespace chipweave::agent {

struct ProbeLoopOptions {
  std::chrono::milliseconds poll_every{500};
  std::chrono::milliseconds heartbeat_every{1'000};
  // Reads everything again even if changes() reports nothing, which does not cover all facts.
  std::chrono::milliseconds reread_every{60'000};
  // Between measurements of the chips; 0: none.
  std::chrono::milliseconds sample_every{0};
  // After a failed discover(); doubles up to retry_max.
  std::chrono::milliseconds retry_min{1'000};
  std::chrono::milliseconds retry_max{30'000};
};

// `write` takes whole lines (codec/agent/probe_line.hpp) and returns false once the reader is gone.
// The first line is what the probe knows before it calls a driver, if anything. Then a line is
// written when events arrive, before the hardware is read again, since a driver that has
// just reported an error may hang; when the probe observes something new; when it fails for a new
// reason; before the chips are measured, which is done while the machine can be read, and after it;
// and else as a heartbeat. A call of the probe may hang, and the loop with it: the reader
// has a timeout.
void run_probe_loop(VendorProbe& probe, const Clock& clock, const ProbeLoopOptions& options,
                    const std::function<bool(const std::string&)>& write);

}  // namespace chipweave::agent
