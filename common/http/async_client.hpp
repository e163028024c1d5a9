// AsyncClient — non-blocking HTTP/1.1 client for one server, over TLS or plain TCP: single calls
// and long-running streams.
//
// Loop thread only. Connections are kept alive and reused. If the server closes a reused connection
// before it sends a reply, a GET is sent again on a new one; any other method fails as unavailable,
// since the server may have acted. At most Limits::max_calls calls are in flight; the others queue
// within their deadlines, so that a slow server is not loaded with ever more connections. Reply
// sizes and all waits are bounded.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/http/loop.hpp"
#include "common/http/origin.hpp"
#include "common/http/ticket.hpp"

namespace chipweave::http {

struct AsyncRequest {
  std::string method = "GET";
  std::string target;                                        // path and query
  std::vector<std::pair<std::string, std::string>> headers;  // besides Host and Content-Length
  std::string body;
  // Called right before the first byte is sent, which may be long after call(): the request queues
  // first. If it returns false, nothing is sent and the call fails as unavailable. May be empty.
  std::function<bool()> may_send{};
};

struct AsyncReply {
  int status = 0;
  std::string body;
  std::optional<std::chrono::seconds> retry_after;
};

// Callbacks of a stream: either `refused` (any status but 200, with the whole body), or `bytes`
// followed by `ended`.
struct StreamSink {
  std::function<void(AsyncReply reply)> refused;
  std::function<void(std::string_view bytes)> bytes;
  std::function<void(Result<void> result)> ended;  // ok: the server ended the reply properly
};

class AsyncClient {
 public:
  struct Limits {
    std::size_t max_reply_bytes = std::size_t{64} << 20U;
    std::size_t max_calls = 32;             // in flight at once, without streams
    std::chrono::seconds keep_for{45};      // shorter than servers keep idle connections
    std::chrono::seconds stream_begin{30};  // until the header of a stream arrives
  };

  // Errors: invalid_argument for an unusable certificate or key.
  static Result<std::unique_ptr<AsyncClient>> make(Loop& loop, Origin origin, Limits limits);
  ~AsyncClient();
  AsyncClient(const AsyncClient&) = delete;
  AsyncClient& operator=(const AsyncClient&) = delete;

  // Connections that are opened from now on use `pem`; those kept alive are closed. Errors as
  // make()'s: the previous ones stay in use.
  Result<void> use_credentials(ClientPem pem);

  // Errors: unavailable (cannot connect, cut, wrong certificate), deadline, limit_exceeded,
  // invalid_argument (a target or header that cannot be sent).
  std::unique_ptr<Ticket> call(const AsyncRequest& request, std::chrono::milliseconds deadline,
                               std::function<void(Result<AsyncReply>)> done);
  // idle: the stream fails after this long without a byte.
  std::unique_ptr<Ticket> stream(const AsyncRequest& request, std::chrono::milliseconds idle,
                                 StreamSink sink);

 private:
  struct Impl;
  class Flight;
  explicit AsyncClient(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace chipweave::http
