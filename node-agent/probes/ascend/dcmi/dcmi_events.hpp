// DcmiEvents — the fault events that the driver reports by itself, on a thread of its library.
//
// DCMI allows one subscription in a process and none can be ended, so its callback outlives every
// object: it hands events to the newest DcmiEvents that exists, and drops them where there is none.
// An event that a fault has begun or ended is not kept: the state of the device is read again, so
// that a lost event costs time and not the truth. The layout is that of the published headers;
// tested against tests/fakes/dcmi only.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node-agent/probes/ascend/dcmi/dcmi_library.hpp"

namespace chipweave::agent {

// One that happened once: no state of the device shows it.
struct DcmiOneTimeEvent {
  std::uint32_t code = 0;
  int logic_id = 0;
  std::string text;  // from the driver; may be ""
};

struct DcmiEventBatch {
  std::vector<DcmiOneTimeEvent> events;  // oldest first
  std::size_t lost = 0;                  // those for which there was no room
};

class DcmiEvents {
 public:
  static constexpr std::size_t kMaxKept = 256;
  // Between two returns of wait() for events: a driver that reports without end is read this often.
  static constexpr std::chrono::milliseconds kShortestWait{100};

  DcmiEvents();
  DcmiEvents(const DcmiEvents&) = delete;
  DcmiEvents& operator=(const DcmiEvents&) = delete;
  ~DcmiEvents();

  // Subscribes to all devices unless that was done before or cannot succeed any more. Afterwards
  // problem() has the reason if it failed.
  void subscribe(const DcmiLibrary& library);
  // "" after a successful subscription.
  const std::string& problem() const { return problem_; }

  // True if a fault has begun or ended since the last call.
  bool take_change();
  // The one-time events since the last call.
  DcmiEventBatch take();
  // Returns when an event has come since the last call, or after `longest`.
  void wait(std::chrono::milliseconds longest);

  // For the callback, on any thread.
  static void receive(const dcmi::Event& event) noexcept;

 private:
  // Without allocation: the callback must not throw into the library.
  struct Kept {
    std::uint32_t code = 0;
    int logic_id = 0;
    std::array<char, dcmi::kEventNameBytes> text{};
  };
  void keep(const dcmi::FaultEvent& event) noexcept;

  std::optional<dcmi::Code> tried_;
  std::string problem_;
  std::chrono::steady_clock::time_point last_return_{};

  // Below: guarded by the mutex of the callback.
  std::condition_variable arrived_;
  bool woken_ = false;
  bool changed_ = false;
  std::vector<Kept> kept_;
  std::size_t lost_ = 0;
};

}  // namespace chipweave::agent
