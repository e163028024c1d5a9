// Server — HTTP/1.1 server on the loop, plain or over TLS, with keep-alive and limits on header
// size, body size, connections and time. Every reply has a Content-Length, because kube-scheduler
// drops connections whose replies have none.
//
// Handlers are plain functions on the loop thread; they see a whole request and return a whole
// response, or a Later that sends it afterwards. They may use loop-owned state without locks.
// Limits: common/base/limits.hpp.
//
// Asio has the sockets and the loop, Beast parses the headers. Seven parts are our own, and their
// headers say why: body_decoder, byte_budget, connection_table, request_reader, response_head,
// tls_link, wire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/limits.hpp"
#include "common/base/result.hpp"
#include "common/http/loop.hpp"
#include "common/http/tls_context.hpp"

namespace chipweave::http {

// The other end of a connection.
class Peer {
 public:
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  virtual ~Peer() = default;
  // Its IP address; empty if it has disconnected.
  virtual std::string address() const = 0;
  // DNS names, URIs and common name of its certificate; empty without a valid certificate.
  virtual const std::vector<std::string>& names() const = 0;
};

// Valid while the handler or the check runs.
struct RequestHead {
  std::string_view method;  // "GET", "POST", "DELETE"
  std::string_view path;    // as sent (not decoded), without query
  std::string_view query;   // after '?', without it
  // False if the server requests client certificates and the client has not presented one.
  bool trusted = true;
  // The field; empty if it is missing or sent more than once.
  std::string_view authorization = {};
  const Peer* peer = nullptr;  // null in tests without a connection
};

struct Request : RequestHead {
  // The body with at least 64 readable bytes after its end (simdjson needs them).
  std::string& body;
};

struct Response {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::string allow;    // with 405: the allowed methods, "GET, POST"
  int retry_after = 0;  // seconds; 0: no Retry-After field
  bool close = false;   // close the connection even if the client would keep it
  // The rest of a large body, in pieces, so that it is never copied into one string; each piece is
  // freed when it is sent.
  std::vector<std::string> more{};

  std::size_t body_bytes() const {
    std::size_t bytes = body.size();
    for (const std::string& piece : more) bytes += piece.size();
    return bytes;
  }
};

// Handle for a reply that is sent later. Destroying it unsent answers 500, so that no client waits
// in vain; a reply after the timeout or after the client disconnected is dropped. Loop thread only.
class PendingReply {
 public:
  PendingReply() = default;
  PendingReply(const PendingReply&) = delete;
  PendingReply& operator=(const PendingReply&) = delete;
  virtual ~PendingReply() = default;
  virtual void send(Response response) = 0;  // once
};
// Called at once, after the handler; may send before it returns.
using Later = std::function<void(std::shared_ptr<PendingReply> reply)>;
using Answer = std::variant<Response, Later>;
using Handler = std::function<Answer(const Request&)>;

// The reply to an accepted request that the server itself cannot serve (too large or slow, no
// memory, an error), for callers whose protocol reports errors in a reply of status 200. message:
// plain ASCII.
using RefusalShape = Response (*)(std::string_view message);

// A request whose body may be read.
struct AcceptedHead {
  AcceptedHead(std::size_t most, RefusalShape shape = nullptr) : max_body(most), refusal(shape) {}
  std::size_t max_body;  // bytes
  RefusalShape refusal;  // null: a status and {"error":…}
};

// Whether the body of a request may be read; if not, the reply that refuses the request.
using HeadVerdict = std::variant<AcceptedHead, Response>;
// Called once for each request, when its head is complete and before any byte of its body is read
// or asked for (100 Continue). A refused request never reaches the handler; the reply is sent at
// once, and the connection closes if a body was announced. Must not allocate for a good request.
using HeadCheck = std::function<HeadVerdict(const RequestHead&)>;

struct ServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free one
  std::size_t max_connections = limits::kMaxHttpConnections;
  std::size_t max_header_bytes = limits::kMaxHttpHeaderBytes;
  std::size_t max_body_bytes = limits::kMaxHttpBodyBytes;  // whatever the check allows
  std::size_t max_held_bytes = limits::kMaxHttpHeldBytes;  // for all connections together
  std::chrono::milliseconds header_timeout = limits::kHttpHeaderTimeout;
  std::chrono::milliseconds body_timeout = limits::kHttpBodyTimeout;
  std::chrono::milliseconds body_grace = limits::kHttpBodyGrace;
  std::chrono::milliseconds idle_timeout = limits::kHttpIdleTimeout;
  std::chrono::milliseconds write_timeout = limits::kHttpWriteTimeout;
  // For a later reply; then 504. More than anything that is waited for takes: every handler has a
  // shorter limit of its own.
  std::chrono::milliseconds answer_timeout = std::chrono::seconds(30);
  std::shared_ptr<TlsContext> tls;  // null: plain TCP
  // May be empty: a client has presented a certificate that the client CA has not signed, or that
  // is not valid, and its connection ends.
  std::function<void(const Peer&)> on_untrusted;
};

class Server {
 public:
  // Without a check every request may have a body of max_body_bytes.
  Server(Loop& loop, ServerOptions options, Handler handler, HeadCheck check = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds and listens; returns the bound port.
  Result<std::uint16_t> start();
  // Whether only this machine can reach it. False before start().
  bool is_on_loopback() const;
  // Stops accepting, lets replies in flight finish until `grace` has passed, then closes; calls
  // `done` on the loop.
  void drain(std::chrono::milliseconds grace, std::function<void()> done);

  struct Stats {
    std::uint64_t connections_open = 0;
    std::uint64_t connections_refused = 0;  // answered 503 or dropped because too many were open
    std::uint64_t requests = 0;
    std::uint64_t bad_requests = 0;  // malformed, too large, too slow, no or broken TLS
    // Requests and replies that max_held_bytes left no room for; answered 503 if possible.
    std::uint64_t over_budget = 0;
    std::size_t bytes_held = 0;
    std::chrono::system_clock::time_point certificate_not_after{};  // the epoch: no TLS
  };
  Stats stats() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace chipweave::http
