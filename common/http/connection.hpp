// Connection — one client: reads requests with a RequestReader, has them served, writes the
// replies. ConnectionHost — what a connection needs from its server; ConnectionTable
// (connection_table.hpp) keeps it alive.
//
// Loop thread only. A closed connection never touches its host again, so the host may go first.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "common/http/request_reader.hpp"
#include "common/http/response_head.hpp"
#include "common/http/wire.hpp"

namespace chipweave::http {

// What a connection is waiting for; each phase has its own time limit.
enum class Phase {
  header,     // accepted, or some bytes of a request
  body,       // the header is there
  idle,       // kept alive after a reply
  working,    // a whole request whose handler answers later
  replying,   // a whole request: in the handler or in the write
  lingering,  // refused: reads over what the client still sends, so that it gets to see the answer
};
inline constexpr std::size_t kPhases = 6;

class Connection;

class ConnectionHost {
 public:
  ConnectionHost() = default;
  ConnectionHost(const ConnectionHost&) = delete;
  ConnectionHost& operator=(const ConnectionHost&) = delete;
  virtual ~ConnectionHost() = default;
  // Moves the connection to that phase and starts the phase's time limit.
  virtual void enter(Connection& connection, Phase phase) = 0;
  virtual void forget(Connection& connection) = 0;
  // Neither throws: a handler that does is a 500.
  virtual Answer serve(const Request& request) = 0;
  virtual void begin(const Later& later, std::shared_ptr<PendingReply> reply) = 0;
  virtual bool draining() const = 0;
  virtual void count_bad_request() = 0;
  // Scratch for one read, shared by all connections; 128 KiB hold most requests whole.
  static constexpr std::size_t kScratchBytes = 128U << 10U;
  std::array<char, kScratchBytes> scratch;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  // tls: null for a connection in the clear.
  Connection(ConnectionHost& host, Wire::Socket socket, const TlsContext* tls,
             RequestReader::Limits limits);

  void start();
  void close();
  // The time limit of the phase has passed.
  void time_out();
  // Whether bytes have arrived that were not read yet.
  bool has_unread() const;
  bool has_begun_request() const;

  // Kept by the host.
  struct Place {
    Phase phase = Phase::header;
    Steady since{};     // start of the request at hand, for choosing the oldest
    Steady deadline{};  // of the phase
    std::list<std::shared_ptr<Connection>>::iterator at;
  } place;

 private:
  class Pending;
  using error_code = boost::system::error_code;

  void wait_readable();
  void on_readable(const error_code& ec);
  void on_cut();
  // Acts on the reader's state; false when reading has to wait for a reply or is over.
  bool proceed(RequestReader::State state);
  void serve_ready();
  // The reply if it comes at once; else the connection waits for answered().
  std::optional<Response> ask_handler();
  void answered(Response response);
  void refuse(const RequestReader::Refusal& refusal);
  void send_continue();
  void start_reply(Response response);
  void start_reply(Response response, AfterReply after, bool with_body);
  void say_last(int status, std::string_view code, std::string_view message);
  // Writes what the socket takes; false if something is left. Closes on errors.
  bool write_now();
  void wait_writable();
  void reply_done();
  void linger();

  ConnectionHost& host_;
  Wire wire_;
  RequestReader reader_;
  std::string head_;  // of the reply at hand
  Response response_;
  std::size_t body_size_ = 0;  // how much of response_.body goes out: nothing for HEAD
  std::size_t written_ = 0;    // of head_ and body together
  AfterReply after_ = AfterReply::keep_alive;
  bool refused_ = false;
  bool beginning_ = false;         // a handler is being told where its reply goes
  std::optional<Response> early_;  // what it sent at once
  bool closed_ = false;
};

}  // namespace chipweave::http
