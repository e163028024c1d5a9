// VendorProbe — a probe that calls into a vendor's library, tool or driver files, any of which may
// hang or crash. Runs in the helper process only, on its one thread.
#pragma once

#include <chrono>
#include <thread>

#include "node-agent/app/probe.hpp"

namespace chipweave::agent {

class VendorProbe : public Probe {
 public:
  // Returns after `longest`, or earlier when the vendor tells of an event. What came is kept for
  // changes() and discover().
  virtual void wait(std::chrono::milliseconds longest) { std::this_thread::sleep_for(longest); }
};

}  // namespace chipweave::agent
