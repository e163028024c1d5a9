// AsyncClient — HTTP/1.1 on the loop, to one server, over TLS or in the clear: calls that end and
// streams that go on.
//
// Loop thread only. Connections are kept and used again. A kept one that the server closes before a
// word is replaced, and the request sent again if that is harmless (GET); any other method fails as
// unavailable then, since the server may have acted. Only so many calls are under way at once, the
// others wait for their turn within their deadlines: a server that is behind falls further behind
// if it is given a connection more for each. Replies are bounded; every wait has an end.
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
  // Asked right before the first byte goes out, which may be long after the call: it waits for its
  // turn and for a connection. false: nothing is sent, and the call fails as unavailable. Empty:
  // nobody is asked.
  std::function<bool()> may_send{};
};

struct AsyncReply {
  int status = 0;
  std::string body;
  std::optional<std::chrono::seconds> retry_after;
};

// What a stream brings: a refusal (any status but 200, with the whole body), or bytes and an end.
struct StreamSink {
  std::function<void(AsyncReply reply)> refused;
  std::function<void(std::string_view bytes)> bytes;
  std::function<void(Result<void> how)> ended;  // ok: in order
};

class AsyncClient {
 public:
  struct Limits {
    std::size_t max_reply_bytes = std::size_t{64} << 20U;
    std::size_t max_calls = 32;             // under way at once; streams are not counted
    std::chrono::seconds keep_for{45};      // less than servers keep idle ones
    std::chrono::seconds stream_begin{30};  // until the header of a stream is there
  };

  // invalid_argument: a certificate or key that is none.
  static Result<std::unique_ptr<AsyncClient>> make(Loop& loop, Origin origin, Limits limits);
  ~AsyncClient();
  AsyncClient(const AsyncClient&) = delete;
  AsyncClient& operator=(const AsyncClient&) = delete;

  // Errors: unavailable (cannot connect, cut, wrong certificate), deadline, limit_exceeded,
  // invalid_argument (a target or header that cannot be sent).
  std::unique_ptr<Ticket> call(const AsyncRequest& request, std::chrono::milliseconds deadline,
                               std::function<void(Result<AsyncReply>)> done);
  // idle: a stream without a byte for so long is dead.
  std::unique_ptr<Ticket> stream(const AsyncRequest& request, std::chrono::milliseconds idle,
                                 StreamSink sink);

 private:
  struct Impl;
  explicit AsyncClient(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace chipweave::http
