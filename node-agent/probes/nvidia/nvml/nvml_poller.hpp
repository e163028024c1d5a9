// NvmlPoller — tells whether the devices have changed since it was made, with the fewest NVML calls
// that show it, so that the full snapshot is not read twice a second.
//
// Each poll calls, besides the device count, for every device: its handle (which shows that it is
// still there) and one nvmlDeviceGetFieldValues for the states of all its links and its recovery
// action; before sm_90, instead of the fields of links, nvmlDeviceGetNvLinkState of each link. That
// is 1 + 2n calls for n current devices, 17 for eight H100, and 1 + 8 * (2 + 6) = 65 for eight
// V100. Every tenth poll (kSlowEvery) makes at most eight more calls per device: remapped rows,
// both ECC totals, its fabric (twice where the driver knows an older struct), thermal slowdown,
// pages to retire, its MIG mode, and one field call for the errors of all links (before Hopper:
// three calls per link). What the device does not support at the start is not polled. The duration
// of a call has not been measured: no hardware was available.
//
// Does not allocate once it is made. Owner: the probe, on its one thread; the library must outlive
// it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "node-agent/probes/nvidia/nvml/nvml_library.hpp"

namespace chipweave::agent {

class NvmlPoller {
 public:
  static constexpr int kSlowEvery = 10;

  // Takes the baseline. Make it before the devices are read, so that a change in between counts.
  explicit NvmlPoller(const NvmlLibrary& library);

  // True while the devices differ from the baseline, as of the last poll.
  bool changed();
  // The result of the first device count.
  nvml::Code code() const { return code_; }

 private:
  static constexpr std::size_t kSlowCalls = 7;
  struct Target {
    nvml::Device handle = nullptr;
    std::vector<nvml::FieldValue> fast;           // fields of each poll
    std::vector<unsigned> links;                  // whose state needs a call each
    std::array<bool, kSlowCalls> supported = {};  // of the slow samplers
    std::vector<nvml::FieldValue> slow;           // fields of slow polls
    bool counts_errors = false;                   // of `links`, by a call each
  };

  Target prepare(unsigned index) const;
  void prepare_links(Target& target) const;
  void prepare_slow(Target& target) const;
  void sample_all(std::vector<std::uint64_t>& out);
  void sample_slow(std::vector<std::uint64_t>& out);
  void sample_fields(nvml::Device handle, std::vector<nvml::FieldValue>& fields,
                     std::vector<std::uint64_t>& out) const;

  const NvmlFunctions& f_;
  nvml::Code code_ = nvml::kSuccess;
  std::vector<Target> targets_;
  std::vector<std::uint64_t> baseline_;
  std::vector<std::uint64_t> baseline_slow_;
  std::vector<std::uint64_t> now_;
  bool slow_differs_ = false;  // as of the last slow poll
  int polls_ = 0;
};

}  // namespace chipweave::agent
