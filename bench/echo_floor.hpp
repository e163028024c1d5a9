// EchoFloor — the minimal webhook server: our HTTP server, the request read once without copies,
// and a fixed reply. The time that a scheduler takes beyond this is its own work, not transport or
// parsing.
//
// A separate process, like the scheduler, so that both cost the client the same wake-ups. Start it
// before any thread runs. set_reply() must not be called during a request.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "common/base/result.hpp"

namespace chipweave::bench {

class EchoFloor {
 public:
  static Result<EchoFloor> start();
  EchoFloor(EchoFloor&& other) noexcept;
  EchoFloor& operator=(EchoFloor&&) = delete;
  ~EchoFloor();

  std::string url() const;
  // Sets the reply to all further requests.
  Result<void> set_reply(const std::string& body);

 private:
  EchoFloor(pid_t child, std::uint16_t port) : child_(child), port_(port) {}
  pid_t child_;
  std::uint16_t port_;
};

}  // namespace chipweave::bench
