// CallerAudit — one log line per refused caller, at most kLinesAMinute for each reason, so that
// many refusals for one reason do not hide those for another; those left out are counted in a line
// of their own. Not thread-safe: the HTTP side has one on the loop thread, the gRPC side one under
// a mutex.
#pragma once

#include <array>
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

  struct Refused {
    CallerRefusal why;
    std::string_view route;  // one of the server's, or "other"; never the path, which may hold a
                             // secret
    std::string caller{};    // the name of its secret or certificate; empty: unknown
    const http::Peer* peer = nullptr;
  };
  void refused(const Refused& what, Clock::Steady now);
  struct Call {
    std::string_view method;  // of gRPC
    std::string from;         // address; empty: unknown
    std::string caller;       // name of its certificate or its user; empty: it has shown none
    std::string reason;
  };
  void refused_call(const Call& call, Clock::Steady now);
  // Writes the lines of those left out once their minute is over.
  void tick(Clock::Steady now);

 private:
  struct Minute {
    Clock::Steady since{};
    std::uint64_t lines = 0;
  };
  bool may_log(std::size_t minute, Clock::Steady now);

  static constexpr std::size_t kGrpcCalls = kCallerRefusals;
  std::array<Minute, kGrpcCalls + 1> minutes_{};  // by reason; the last one for gRPC calls
};

}  // namespace chipweave::sched
