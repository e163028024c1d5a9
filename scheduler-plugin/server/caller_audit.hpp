// CallerAudit — one log line per refused caller, at most kLinesAMinute; those left out are counted
// in a line of their own. One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/clock.hpp"
#include "scheduler-plugin/server/caller_check.hpp"

namespace chipweave::sched {

class CallerAudit {
 public:
  static constexpr std::uint64_t kLinesAMinute = 10;

  // route: one of the server's, or "other"; never the path, which may hold a secret.
  void refused(CallerRefusal why, std::string_view route, const http::Peer* peer,
               Clock::Steady now);
  struct Call {
    std::string_view method;  // of gRPC
    std::string from;         // address; empty: unknown
    std::string caller;       // name of its certificate or its user; empty: it has shown none
    std::string reason;
  };
  void refused_call(const Call& call, Clock::Steady now);
  // Writes the line of those left out once the minute is over.
  void tick(Clock::Steady now);

 private:
  bool may_log(Clock::Steady now);

  Clock::Steady since_{};
  std::uint64_t in_minute_ = 0;
};

}  // namespace chipweave::sched
