// Server::Impl — accepts connections, enforces the connection limit and all timeouts, drains.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/http/connection_table.hpp"
#include "common/http/loop_impl.hpp"
#include "common/http/server.hpp"

namespace chipweave::http {

struct Server::Impl final : ConnectionHost, std::enable_shared_from_this<Server::Impl> {
  Impl(Loop::Impl& loop, ServerOptions options, Handler handler);

  Result<std::uint16_t> listen();
  void accept_next();
  void drain(std::chrono::milliseconds grace, std::function<void()> done);
  // Closes everything at once; pending completions do nothing afterwards.
  void close_all();

  void enter(Connection& connection, Phase phase) override;
  void forget(Connection& connection) override;
  Answer serve(const Request& request) override;
  void begin(const Later& later, std::shared_ptr<PendingReply> reply) override;
  bool draining() const override { return draining_; }
  void count_bad_request() override { ++stats_.bad_requests; }

  Stats stats() const;

 private:
  using tcp = boost::asio::ip::tcp;
  using error_code = boost::system::error_code;
  using Steady = Connection::Steady;

  void on_accept(const error_code& ec, tcp::socket socket);
  void back_off(const error_code& why);
  bool make_room();
  void turn_away(tcp::socket socket);
  void arm(Steady deadline);
  void expire();
  void finish_drain_if_empty();

  Loop::Impl& loop_;
  ServerOptions options_;
  Handler handler_;
  tcp::acceptor acceptor_;
  boost::asio::steady_timer deadline_timer_;  // one for all connections
  boost::asio::steady_timer accept_timer_;    // the pause after a failed accept
  boost::asio::steady_timer grace_timer_;
  Steady armed_for_ = Steady::max();
  ConnectionTable table_;
  bool draining_ = false;
  std::function<void()> drained_;
  Stats stats_;
};

}  // namespace chipweave::http
