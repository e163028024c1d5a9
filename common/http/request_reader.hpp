// RequestReader — bytes of one connection in, whole requests out; no socket, no clock, so tests and
// fuzzers drive it.
//
// Bytes that follow a request belong to the next one (pipelining): they are kept and parsed by
// next(). Buffers are reused from request to request. One owner, one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "common/http/server.hpp"

namespace chipweave::http {

class RequestReader {
 public:
  struct Limits {
    std::size_t header_bytes;  // request line, fields and the empty line
    std::size_t body_bytes;
  };
  enum class State {
    idle,    // not a byte of a request yet
    header,  // some of the header
    body,    // all of the header, some of the body
    ready,   // a whole request; feed() must wait until next()
    failed,  // refusal() says why; the connection cannot go on
  };
  // What to answer to a request that is not served.
  struct Refusal {
    int status = 400;
    std::string_view code;     // stable, e.g. "bad_request"
    std::string_view message;  // for the person who reads it
  };

  explicit RequestReader(Limits limits);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // In states idle, header and body.
  State feed(std::string_view bytes);
  // In state ready: forgets that request and goes on with the bytes that were behind it.
  State next();
  State state() const;

  // In state body: true once if the client waits for "100 Continue" before it sends the body.
  bool take_expect_continue();

  // In state ready; the views live until next(). HEAD comes as "GET" (is_head() tells them apart).
  Request request();
  bool is_head() const;
  // The client's version; true as long as that is not known.
  bool is_http11() const;
  // In states ready and failed: whether the connection may serve another request after this one.
  bool keep_alive() const;
  const Refusal& refusal() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::http
