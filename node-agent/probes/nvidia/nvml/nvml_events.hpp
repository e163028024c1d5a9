// NvmlEvents — the driver's own events (XIDs, ECC errors) of all devices, as signals: "xid.79",
// "nvml.sbe", "nvml.dbe".
//
// A device without events is no error: what it has comes by polling alone. When waiting itself
// fails, an event "nvml.events-failed" is left once and polling goes on without. Shown on the fake
// library only; no hardware was at hand.
// Owner: the probe, on its one thread; the library must outlive it.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "common/domain/observation.hpp"
#include "node-agent/probes/nvidia/nvml/nvml_library.hpp"

namespace chipweave::agent {

class NvmlEvents {
 public:
  static constexpr std::size_t kMost = 256;  // kept; further ones are counted

  // Registers what is both wanted and supported by each device.
  explicit NvmlEvents(const NvmlLibrary& library);
  NvmlEvents(const NvmlEvents&) = delete;
  NvmlEvents& operator=(const NvmlEvents&) = delete;
  ~NvmlEvents();

  // Returns when events have come, or after `longest`.
  void wait(std::chrono::milliseconds longest);
  bool pending() const { return !kept_.empty(); }
  // Waiting failed: none come here any more. Another object may have more luck later.
  bool failed() const { return failed_; }
  // What came since the last call, oldest first.
  std::vector<domain::Signal> take();

  // What people should know of the way events come here, and how many were dropped since the last
  // call; each said once.
  std::vector<std::string> take_warnings();

 private:
  void listen(int index, nvml::Device handle);
  // Code of nvmlEventSetWait; what it brought is kept.
  nvml::Code receive(std::chrono::milliseconds longest);
  void keep(const nvml::EventData& event);
  void keep(domain::Signal signal);
  std::optional<domain::ChipIndex> chip_of(nvml::Device handle) const;

  const NvmlLibrary& library_;
  const NvmlFunctions& f_;
  nvml::EventSet set_ = nullptr;       // null: no events here
  std::vector<nvml::Device> handles_;  // by index; null where there is none
  int listening_ = 0;                  // devices
  bool failed_ = false;
  std::vector<domain::Signal> kept_;
  std::size_t dropped_ = 0;
  std::vector<std::string> warnings_;
};

// What an XID means, for people: "has fallen off the bus"; "" for one without a name here.
std::string xid_text(std::uint64_t xid);

}  // namespace chipweave::agent
