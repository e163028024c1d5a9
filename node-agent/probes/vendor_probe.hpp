// VendorProbe — reads one vendor's accelerators through its library, tool or driver files, any of
// which may hang or crash. Runs in the probe process only, on its one thread.
#pragma once

#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/chip_metrics.hpp"
#include "common/domain/observation.hpp"

namespace chipweave::agent {

class VendorProbe {
 public:
  VendorProbe() = default;
  VendorProbe(const VendorProbe&) = delete;
  VendorProbe& operator=(const VendorProbe&) = delete;
  virtual ~VendorProbe() = default;

  // What is known before any driver was called, which may hang; nullopt: nothing.
  virtual std::optional<domain::Observation> before_driver() { return std::nullopt; }
  // The whole machine as it is now. not_found: there are no accelerators here, an ordinary state.
  virtual Result<domain::Observation> discover() = 0;
  // True if discover() may answer differently than the last time it was called. Cheap: called twice
  // a second.
  virtual bool changes() = 0;
  // Returns after `longest`, or earlier when the vendor reports an event, which is kept for
  // take_events().
  virtual void wait(std::chrono::milliseconds longest) { std::this_thread::sleep_for(longest); }
  // What the chips measure now, by the indices of the last discover(). A failed call of the driver
  // costs one value. Empty: this vendor's chips are not measured.
  virtual std::vector<domain::ChipMetrics> sample() { return {}; }
  // Events that have arrived since the last call and that no observation has carried. Calls no
  // driver: it may hang.
  virtual std::vector<domain::Signal> take_events() { return {}; }
  // True once the library in this process is no longer the driver's. Unloading it is not certain to
  // work, so a new process must read on. Cheap, as changes().
  virtual bool outdated() const { return false; }
};

}  // namespace chipweave::agent
