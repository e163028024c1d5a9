// Connection — one client connection of a Server: reads requests with a RequestReader, passes them
// to the ConnectionHost and writes the replies. A ConnectionTable (connection_table.hpp) keeps it
// alive.
//
// Loop thread only. A closed connection does not use its host again, so the host may be destroyed
// first.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/http/byte_budget.hpp"
#include "common/http/loop.hpp"
#include "common/http/request_reader.hpp"
#include "common/http/response_head.hpp"
#include "common/http/wire.hpp"

namespace chipweave::http {

// What a connection is waiting for; each phase has its own time limit.
enum class Phase {
  header,     // accepted, or some bytes of a request
  body,       // the header has arrived
  idle,       // kept alive after a reply
  working,    // the handler will answer later
  replying,   // in the handler, or writing the reply
  lingering,  // refused: discards what the client still sends, so that it sees the answer
};
inline constexpr std::size_t kPhases = 6;

class Connection;

class ConnectionHost {
 public:
  explicit ConnectionHost(std::size_t max_held_bytes) : budget(max_held_bytes) {}
  ConnectionHost(const ConnectionHost&) = delete;
  ConnectionHost& operator=(const ConnectionHost&) = delete;
  virtual ~ConnectionHost() = default;
  // Moves the connection to that phase and starts the phase's time limit.
  virtual void enter(Connection& connection, Phase phase) = 0;
  virtual void forget(Connection& connection) = 0;
  // None of these throws: an exception of the check or the handler goes to Loop::on_escape() and,
  // if that returns, becomes a 500.
  virtual HeadVerdict check(const RequestHead& head) = 0;
  virtual Answer serve(const Request& request) = 0;
  virtual void begin(const Later& later, std::shared_ptr<PendingReply> reply) = 0;
  virtual bool draining() const = 0;
  // The task that the loop runs from now on, for its metrics.
  virtual void begin_task(LoopTask task) = 0;
  virtual void count_bad_request() = 0;
  virtual void count_over_budget() = 0;
  // Whether `budget` has room for that many more bytes; evicts slow connections for them.
  virtual bool make_room(const Connection& for_whom, std::size_t bytes) = 0;
  // Whether make_room() could succeed; evicts none yet.
  virtual bool may_announce(std::size_t bytes) = 0;
  ByteBudget budget;
  // Read buffer shared by all connections; most requests fit into 128 KiB.
  static constexpr std::size_t kScratchBytes = 128U << 10U;
  std::array<char, kScratchBytes> scratch;
};

class Connection final : public std::enable_shared_from_this<Connection>, private RequestGate {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  // tls: null for plain TCP.
  Connection(ConnectionHost& host, Wire::Socket socket, const TlsContext* tls,
             RequestReader::Limits limits);

  void start();
  void close();
  // The time limit of the phase has passed.
  void time_out();
  // Gives its memory to others: an incomplete request is answered 503, a reply is cut off.
  void evict();
  std::size_t held() const { return held_; }
  // Whether unread bytes have arrived.
  bool has_unread() const;
  bool has_begun_request() const;

  // Kept by the host.
  struct Place {
    Phase phase = Phase::header;
    Steady since{};     // start of the current request, for choosing the oldest
    Steady deadline{};  // end of the phase
    std::list<std::shared_ptr<Connection>>::iterator at;
  } place;

 private:
  class Pending;
  using error_code = boost::system::error_code;

  HeadVerdict check(RequestHead head) override;
  bool may_announce(std::size_t bytes) override { return host_.may_announce(bytes); }
  bool make_room(std::size_t bytes) override { return host_.make_room(*this, bytes); }
  std::string take_buffer() override { return host_.budget.take_buffer(); }
  void give_back(std::string buffer) override { host_.budget.give_back(std::move(buffer)); }
  // Tells the budget what this connection holds now.
  void account();
  void wait_readable();
  void on_readable(const error_code& ec);
  void on_cut();
  // Acts on the reader's state; false when reading has to wait for a reply or is over.
  bool proceed(RequestReader::State state);
  void serve_ready();
  // The reply if the handler answers at once; otherwise nullopt, and answered() follows.
  std::optional<Response> ask_handler();
  void answered(Response response);
  void refuse(const RequestReader::Refusal& refusal);
  // Sends the reply of the host's check in place of reading the body.
  void reject(Response response);
  void send_continue();
  void start_reply(Response response);
  void start_reply(Response response, AfterReply after, bool with_body);
  void reply_and_close(int status, std::string_view code, std::string_view message);
  // Writes what the socket takes; false if something is left. Closes on errors.
  bool write_now();
  void wait_writable();
  void finish_reply();
  void reply_done();
  bool next_is_ready();
  void linger();

  ConnectionHost& host_;
  Wire wire_;
  RequestReader reader_;
  std::string head_;  // of the current reply
  Response response_;
  std::size_t body_size_ = 0;  // how much of response_.body goes out: nothing for HEAD
  std::size_t written_ = 0;    // of head_ and body together
  std::size_t held_ = 0;       // as the budget knows it
  AfterReply after_ = AfterReply::keep_alive;
  bool refused_ = false;
  bool beginning_ = false;         // inside ConnectionHost::begin()
  std::optional<Response> early_;  // a reply sent during begin()
  bool closed_ = false;
};

}  // namespace chipweave::http
