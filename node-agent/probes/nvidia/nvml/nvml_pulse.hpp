// NvmlPulse — whether the devices are still as they were when it was made, asked as cheaply as NVML
// allows, so that the whole need not be read twice a second.
//
// A beat asks, besides the number of devices, of each: its handle, which says that it is still
// there, and one nvmlDeviceGetFieldValues for the states of all its links and its recovery action;
// before sm_90, instead of the links' fields, nvmlDeviceGetNvLinkState of each link. That is
// 1 + 2n calls for n devices of today, 17 for eight H100, and 1 + 8 * (2 + 6) = 65 for eight V100.
// Every tenth beat (kSlowEvery) asks at most seven calls more of each device: remapped rows, both
// ECC totals, its fabric (twice where the driver knows an older struct), whether its clocks are
// slowed by heat, pages to retire, and one field call for the errors of all links (before Hopper:
// three calls of each link). What is not supported when it is made is not asked again. How long a
// call takes has not been measured: no hardware was at hand.
//
// Nothing is allocated once it is made. Owner: the probe, on its one thread; the library must
// outlive it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "node-agent/probes/nvidia/nvml/nvml_library.hpp"

namespace chipweave::agent {

class NvmlPulse {
 public:
  static constexpr int kSlowEvery = 10;

  // Asks everything once. Made before the devices are read: what changes in between counts as a
  // change since.
  explicit NvmlPulse(const NvmlLibrary& library);

  // True from the beat on that finds a difference until all is as before.
  bool changed();
  // How the devices could be counted.
  nvml::Code code() const { return code_; }

 private:
  static constexpr std::size_t kSlowCalls = 6;
  struct Body {
    nvml::Device handle = nullptr;
    std::vector<nvml::FieldValue> fast;       // fields of each beat
    std::vector<unsigned> links;              // whose state a call each tells
    std::array<bool, kSlowCalls> asked = {};  // by slow beats
    std::vector<nvml::FieldValue> slow;       // fields of slow beats
    bool counts_errors = false;               // of `links`, by a call each
  };

  Body prepare(unsigned index) const;
  void prepare_links(Body& body) const;
  void prepare_slow(Body& body) const;
  void feel(std::vector<std::uint64_t>& out);
  void feel_slow(std::vector<std::uint64_t>& out);
  void feel_fields(nvml::Device handle, std::vector<nvml::FieldValue>& fields,
                   std::vector<std::uint64_t>& out) const;

  const NvmlFunctions& f_;
  nvml::Code code_ = nvml::kSuccess;
  std::vector<Body> bodies_;
  std::vector<std::uint64_t> first_;  // what was felt when it was made
  std::vector<std::uint64_t> first_slow_;
  std::vector<std::uint64_t> now_;
  bool slow_differs_ = false;  // as of the last slow beat
  int beats_ = 0;
};

}  // namespace chipweave::agent
