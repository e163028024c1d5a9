// RequestReader — bytes of one connection in, whole requests out; no socket, no clock, so tests and
// fuzzers drive it.
//
// Bytes that follow a request belong to the next one (pipelining): they are kept and parsed by
// next(). Buffers are reused from request to request. One owner, one thread.
//
// Beast parses the header; its own message type would allocate for each field of each request.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/http/server.hpp"

namespace chipweave::http {

// What a reader asks its server.
class RequestGate {
 public:
  RequestGate() = default;
  RequestGate(const RequestGate&) = delete;
  RequestGate& operator=(const RequestGate&) = delete;
  virtual ~RequestGate() = default;
  // See HeadCheck; trusted is not set.
  virtual HeadVerdict check(RequestHead head) = 0;
  // Whether a body of that length, just announced, can find room.
  virtual bool may_announce(std::size_t bytes) = 0;
  // Whether the buffers may grow by that many bytes now.
  virtual bool make_room(std::size_t bytes) = 0;
  // Buffers of bodies; see ByteBudget.
  virtual std::string take_buffer() = 0;
  virtual void give_back(std::string buffer) = 0;
};

class RequestReader {
 public:
  struct Limits {
    std::size_t header_bytes;  // request line, fields and the empty line
    std::size_t body_bytes;
  };
  enum class State {
    idle,    // no byte of a request yet
    header,  // some of the header
    body,    // the header and some of the body
    ready,   // a whole request; feed() must wait until next()
    failed,  // see refusal(); the connection must be closed
  };
  // The reply to a request that is not served.
  struct Refusal {
    int status = 400;          // 503: the gate left no room
    std::string_view code;     // stable, e.g. "bad_request"
    std::string_view message;  // human-readable
  };

  // gate: must outlive the reader; null: no check, and memory is bounded by the limits only.
  explicit RequestReader(Limits limits, RequestGate* gate = nullptr);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // Precondition: state idle, header or body.
  State feed(std::string_view bytes);
  // Precondition: state ready. Drops the request and parses the bytes that followed it.
  State next();
  State state() const;

  // In state body: true once if the client waits for "100 Continue" before it sends the body.
  bool take_expect_continue();

  // In states ready and failed: the reply of the gate if it refused this request, once.
  std::optional<Response> take_rejection();
  // In state ready; the views live until next(). HEAD comes as "GET" (is_head() tells them apart).
  Request request();
  bool is_head() const;
  // The client's version; true while it is unknown.
  bool is_http11() const;
  // In states ready and failed: whether the connection may serve another request after this one.
  bool keep_alive() const;
  const Refusal& refusal() const;
  // How this request is refused once its head was accepted; null before that.
  RefusalShape refusal_shape() const;

  // Capacity of all buffers.
  std::size_t held() const;
  // In state ready: gives the body back; the other views stay valid until next().
  void drop_body();
  // In state failed: gives all buffers back.
  void drop_all();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::http
