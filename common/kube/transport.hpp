// Transport — requests to one API server as the state machines of this folder make them: calls that
// end, and streams. Behind it stand a TLS client (api_client.hpp) or a script (tests).
//
// All calls and all callbacks on the loop thread; no callback comes before the call that asked for
// it has returned.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace chipweave::kube {

struct Call {
  std::string method = "GET";
  std::string target;  // path and query
  std::string body;
  std::string content_type = "application/json";
  std::chrono::milliseconds deadline{30'000};
};

struct Reply {
  int status = 0;
  std::string body;
  std::optional<std::chrono::seconds> retry_after;
};

// Ends what it was given for; afterwards no callback comes.
class Ticket {
 public:
  virtual ~Ticket() = default;
};

// A stream: first its status (with the whole body unless it is 200), then bytes, then its end.
struct StreamSink {
  std::function<void(Reply refused)> refused;
  std::function<void(std::string_view bytes)> bytes;
  // ok: the server ended it in order.
  std::function<void(Result<void> how)> ended;
};

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  // Errors: unavailable (no connection, cut), deadline_exceeded, limit_exceeded.
  virtual std::unique_ptr<Ticket> call(Call call, std::function<void(Result<Reply>)> done) = 0;
  // idle: without a byte for so long the stream is dead.
  virtual std::unique_ptr<Ticket> stream(std::string target, std::chrono::milliseconds idle,
                                         StreamSink sink) = 0;
  virtual std::unique_ptr<Ticket> after(std::chrono::milliseconds delay,
                                        std::function<void()> task) = 0;
  virtual std::chrono::steady_clock::time_point now() const = 0;
};

}  // namespace chipweave::kube
