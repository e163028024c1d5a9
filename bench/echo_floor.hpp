// EchoFloor — the least a webhook server can do: our HTTP server, the request read once without
// copies, and a reply of known bytes. What a scheduler takes beyond this is its own work and not
// transport or parsing.
//
// Runs its loop in a thread of its own. set_reply() must not be called while a request is out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/base/result.hpp"

namespace chipweave::bench {

class EchoFloor {
 public:
  static Result<EchoFloor> start();
  EchoFloor(EchoFloor&&) noexcept;
  EchoFloor& operator=(EchoFloor&&) = delete;
  ~EchoFloor();

  std::string url() const;
  // What every request is answered with from now on.
  void set_reply(std::string body);

 private:
  struct Impl;
  explicit EchoFloor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::bench
