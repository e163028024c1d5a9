// Transport — the interface through which this folder sends requests to an API server: single calls
// and streams. Implemented by a TLS client (api_client.hpp) and by scripts in tests.
//
// All calls and callbacks run on the loop thread; no callback runs before the call that requested
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

inline constexpr const char* kJson = "application/json";
// Of one object only its metadata; servers that cannot convert answer with the whole object.
inline constexpr const char* kMetadata =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

struct Call {
  std::string method = "GET";
  std::string target;  // path and query
  std::string body;
  std::string content_type = kJson;
  std::string accept = kJson;
  std::chrono::milliseconds deadline{30'000};
  // Called right before sending; if it returns false, the call fails as unavailable. May be empty.
  std::function<bool()> may_send{};
};

// A GET whose answer does not end, such as a watch.
struct StreamRequest {
  std::string target;                    // path and query
  std::string accept;                    // media types
  std::chrono::milliseconds max_idle{};  // the stream fails after this long without a byte
};

inline Call call_of(const char* method, std::string target, std::string body) {
  Call out;
  out.method = method;
  out.target = std::move(target);
  out.body = std::move(body);
  return out;
}

// HTTP statuses that callers distinguish.
inline constexpr int kOk = 200;
inline constexpr int kForbidden = 403;
inline constexpr int kNotFound = 404;
inline constexpr int kConflict = 409;
inline constexpr int kInvalid = 422;
inline constexpr int kTooManyRequests = 429;
inline constexpr int kServerError = 500;  // and above

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
  virtual std::unique_ptr<Ticket> stream(StreamRequest request, StreamSink sink) = 0;
  virtual std::unique_ptr<Ticket> after(std::chrono::milliseconds delay,
                                        std::function<void()> task) = 0;
  virtual std::chrono::steady_clock::time_point now() const = 0;
};

}  // namespace chipweave::kube
