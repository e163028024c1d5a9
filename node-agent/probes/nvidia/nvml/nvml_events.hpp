// NvmlEvents — the driver's own events (XIDs, ECC errors) of all devices, as signals: "xid.79",
// "nvml.sbe", "nvml.dbe".
//
// A device without event support is not an error: it is polled anyway. When waiting itself fails,
// one event "nvml.events-failed" is emitted and polling goes on without events. Tested with the
// fake library only; no hardware was available. Owner: the probe, on its one thread; the library
// must outlive it.
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
  static constexpr std::size_t kMaxKept = 256;  // kept; further ones are counted

  // Registers the event types that each device supports.
  explicit NvmlEvents(const NvmlLibrary& library);
  NvmlEvents(const NvmlEvents&) = delete;
  NvmlEvents& operator=(const NvmlEvents&) = delete;
  ~NvmlEvents();

  // Returns when events have come, or after `longest`.
  void wait(std::chrono::milliseconds longest);
  bool pending() const { return !kept_.empty(); }
  // Waiting has failed: no events arrive any more. Create another object to try again.
  bool failed() const { return failed_; }
  // Events since the last call, oldest first.
  std::vector<domain::Signal> take();

  // Problems with the delivery of events, and the number dropped since the last call; each once.
  std::vector<std::string> take_warnings();

 private:
  void register_events(int index, nvml::Device handle);
  // Result of nvmlEventSetWait; a received event is kept.
  nvml::Code receive(std::chrono::milliseconds longest);
  void keep(const nvml::EventData& event);
  void keep(domain::Signal signal);
  void name_chip(nvml::Device handle, domain::Signal& signal) const;

  const NvmlLibrary& library_;
  const NvmlFunctions& f_;
  nvml::EventSet set_ = nullptr;  // null: no events
  struct Source {
    nvml::Device handle = nullptr;  // null: there is none
    std::string pci;                // normalised; "" unknown
  };
  std::vector<Source> sources_;  // by index
  int listening_ = 0;            // devices
  bool failed_ = false;
  std::vector<domain::Signal> kept_;
  std::size_t dropped_ = 0;
  std::vector<std::string> warnings_;
};

// Description of an XID: "has fallen off the bus"; "" if it is not known here.
std::string xid_text(std::uint64_t xid);

}  // namespace chipweave::agent
