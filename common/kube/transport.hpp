// Transport — requests to one API server as the state machines of this folder make them: calls that
// end, and streams. Behind it stand a TLS client (api_client.hpp) or a script (tests).
//
// All calls and all callbacks on the loop thread; no callback comes before the call that asked for
// it has returned.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "common/base/result.hpp"
#include "common/http/async_client.hpp"

namespace chipweave::kube {

struct Call {
  std::string method = "GET";
  std::string target;  // path and query
  std::string body;
  std::string content_type = "application/json";
  std::chrono::milliseconds deadline{30'000};
  // Asked right before it is sent; false: it is not, and fails as unavailable. Empty: nobody is.
  std::function<bool()> may_send{};
};

inline Call call_of(const char* method, std::string target, std::string body) {
  Call out;
  out.method = method;
  out.target = std::move(target);
  out.body = std::move(body);
  return out;
}

// Statuses of answers that callers tell apart.
inline constexpr int kOk = 200;
inline constexpr int kForbidden = 403;
inline constexpr int kNotFound = 404;
inline constexpr int kConflict = 409;
inline constexpr int kInvalid = 422;

using Reply = http::AsyncReply;
using Ticket = http::Ticket;
using StreamSink = http::StreamSink;

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  // Errors: unavailable (no connection, cut), deadline, limit_exceeded.
  virtual std::unique_ptr<Ticket> call(Call call, std::function<void(Result<Reply>)> done) = 0;
  // idle: without a byte for so long the stream is dead.
  virtual std::unique_ptr<Ticket> stream(std::string target, std::chrono::milliseconds idle,
                                         StreamSink sink) = 0;
  virtual std::unique_ptr<Ticket> after(std::chrono::milliseconds delay,
                                        std::function<void()> task) = 0;
  virtual std::chrono::steady_clock::time_point now() const = 0;
};

}  // namespace chipweave::kube
