// Clock — the only way time enters app and state code; tests inject a manual one, the solver never
// sees one.
#pragma once

#include <chrono>
#include <string>

namespace chipweave {

class Clock {
 public:
  using Steady = std::chrono::steady_clock::time_point;
  using Wall = std::chrono::system_clock::time_point;
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;
  virtual Steady now() const = 0;  // for durations, deadlines, lifetimes
  virtual Wall wall() const = 0;   // for timestamps that people and other programs read
};

class SystemClock final : public Clock {
 public:
  Steady now() const override { return std::chrono::steady_clock::now(); }
  Wall wall() const override { return std::chrono::system_clock::now(); }
};

// RFC 3339 in UTC with whole seconds: "2026-01-02T03:04:05Z".
std::string rfc3339(Clock::Wall time);
// Kubernetes' MicroTime: "2026-01-02T03:04:05.000006Z".
std::string rfc3339_micros(Clock::Wall time);

}  // namespace chipweave
