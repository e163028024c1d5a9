#include "common/http/server.hpp"

#include <optional>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/http/connection_table.hpp"
#include "common/http/loop_impl.hpp"
#include "common/http/response_head.hpp"
#include "common/obs/log.hpp"

namespace chipweave::http {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds kAcceptPause{100};

ConnectionTable::Timeouts timeouts_of(const ServerOptions& o) {
  // in the order of Phase
  return {o.header_timeout, o.body_timeout,  o.idle_timeout,
          o.answer_timeout, o.write_timeout, o.header_timeout};
}

}  // namespace

// Accepts connections, enforces the connection limit and all timeouts, drains.
struct Server::Impl final : ConnectionHost, std::enable_shared_from_this<Server::Impl> {
  Impl(Loop::Impl& loop, ServerOptions options, Handler handler, HeadCheck check)
      : ConnectionHost(options.max_held_bytes),
        loop_(loop),
        options_(std::move(options)),
        handler_(std::move(handler)),
        check_(std::move(check)),
        acceptor_(loop.context),
        deadline_timer_(loop.context),
        accept_timer_(loop.context),
        grace_timer_(loop.context),
        table_(timeouts_of(options_)) {}

  Result<std::uint16_t> listen() {
    std::string host = options_.host.empty() ? "0.0.0.0" : options_.host;
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
      host = host.substr(1, host.size() - 2);
    const std::string where = options_.host + ":" + std::to_string(options_.port);
    error_code ec;
    tcp::resolver resolver(loop_.context);
    const auto found =
        resolver.resolve(host, std::to_string(options_.port),
                         tcp::resolver::passive | tcp::resolver::numeric_service, ec);
    if (ec || found.empty()) {
      return make_error(
          Errc::invalid_argument,
          "cannot listen on " + where + ": not an address of this machine (" + ec.message() + ")");
    }
    const tcp::endpoint endpoint = found.begin()->endpoint();
    acceptor_.open(endpoint.protocol(), ec);
    if (!ec) acceptor_.set_option(tcp::acceptor::reuse_address(true), ec);
    if (!ec) acceptor_.bind(endpoint, ec);
    if (!ec) acceptor_.listen(asio::socket_base::max_listen_connections, ec);
    if (ec) {
      error_code ignored;
      acceptor_.close(ignored);
      return make_error(Errc::unavailable, "cannot listen on " + where + ": " + ec.message() +
                                               "; is another program using the port?");
    }
    const tcp::endpoint bound = acceptor_.local_endpoint(ec);
    on_loopback_ = !ec && bound.address().is_loopback();
    return bound.port();
  }

  bool is_on_loopback() const { return on_loopback_; }

  void accept_next() {
    acceptor_.async_accept([weak = weak_from_this()](const error_code& ec, tcp::socket socket) {
      if (const auto self = weak.lock()) self->on_accept(ec, std::move(socket));
    });
  }

  void drain(std::chrono::milliseconds grace, std::function<void()> done) {
    drained_ = std::move(done);
    draining_ = true;
    error_code ignored;
    acceptor_.close(ignored);
    accept_timer_.cancel();
    for (const auto& connection : table_.at_rest()) {
      // a request that is here but was not read yet counts as in flight
      if (connection->place.phase == Phase::lingering || !connection->has_unread())
        connection->close();
    }
    grace_timer_.expires_after(grace);
    grace_timer_.async_wait([weak = weak_from_this()](const error_code& ec) {
      const auto self = weak.lock();
      if (!ec && self) self->close_all();
    });
    finish_drain_if_empty();
  }

  // Closes everything at once; pending completions do nothing afterwards.
  void close_all() {
    error_code ignored;
    acceptor_.close(ignored);
    accept_timer_.cancel();
    for (const auto& connection : table_.all()) connection->close();
    deadline_timer_.cancel();
  }

  void enter(Connection& connection, Phase phase) override {
    arm(table_.move(connection, phase, std::chrono::steady_clock::now()));
  }

  void forget(Connection& connection) override {
    table_.remove(connection);
    if (draining_) finish_drain_if_empty();
  }

  HeadVerdict check(const RequestHead& head) override {
    if (!check_) return options_.max_body_bytes;
    try {
      HeadVerdict verdict = check_(head);
      if (std::holds_alternative<Response>(verdict)) ++stats_.requests;
      return verdict;
    } catch (...) {
      loop_.on_escape("a check of an HTTP request: " + exception_text());
      return internal_error(nullptr);
    }
  }

  std::optional<Answer> serve(const Request& request) override {
    ++stats_.requests;
    try {
      return handler_(request);
    } catch (...) {
      loop_.on_escape("an HTTP handler: " + exception_text());
      return std::nullopt;
    }
  }

  // A reply that is still unsent then answers for itself.
  void begin(const Later& later, std::shared_ptr<PendingReply> reply) override {
    try {
      later(std::move(reply));
    } catch (...) {
      loop_.on_escape("a later HTTP reply: " + exception_text());
    }
  }

  void begin_task(LoopTask task) override { loop_.begin_task(task); }
  bool draining() const override { return draining_; }
  void refused_untrusted(const Peer& peer) override {
    if (options_.on_untrusted) options_.on_untrusted(peer);
  }
  void count_bad_request() override { ++stats_.bad_requests; }
  void count_over_budget() override { ++stats_.over_budget; }

  bool make_room(const Connection& for_whom, std::size_t bytes) override {
    while (!budget.fits(bytes)) {
      const auto slow = table_.slowest(slow_since());
      if (!slow || slow.get() == &for_whom) return false;
      slow->evict();
    }
    return true;
  }

  bool may_announce(std::size_t bytes) override {
    if (budget.fits(bytes)) return true;
    const std::size_t slow = table_.held_by_slow(slow_since());
    return bytes <= options_.max_held_bytes &&
           budget.held() - slow <= options_.max_held_bytes - bytes;
  }

  Stats stats() const {
    Stats now = stats_;
    now.connections_open = table_.size();
    now.bytes_held = budget.held();
    if (options_.tls) now.certificate_not_after = options_.tls->not_after();
    return now;
  }

 private:
  using tcp = asio::ip::tcp;
  using error_code = boost::system::error_code;
  using Steady = Connection::Steady;

  // Requests and replies that began before this make room for others.
  Steady slow_since() const { return std::chrono::steady_clock::now() - options_.body_grace; }

  void on_accept(const error_code& ec, tcp::socket socket) {
    if (draining_ || !acceptor_.is_open()) return;
    if (ec == asio::error::connection_aborted) return accept_next();
    if (ec) return back_off(ec);
    if (table_.size() >= options_.max_connections && !make_room()) {
      turn_away(std::move(socket));
      return accept_next();
    }
    const auto connection = std::make_shared<Connection>(
        *this, std::move(socket), options_.tls.get(),
        RequestReader::Limits{options_.max_header_bytes, options_.max_body_bytes});
    table_.add(connection, std::chrono::steady_clock::now());
    arm(connection->place.deadline);
    connection->start();
    accept_next();
  }

  // Out of descriptors or memory: trying again at once would spin, so one connection goes and
  // accepting pauses.
  void back_off(const error_code& why) {
    obs::log(obs::Level::warn, "accept failed",
             {{"reason", why.message()}, {"connections", table_.size()}});
    make_room();
    accept_timer_.expires_after(kAcceptPause);
    accept_timer_.async_wait([weak = weak_from_this()](const error_code& ec) {
      const auto self = weak.lock();
      if (!ec && self && self->acceptor_.is_open()) self->accept_next();
    });
  }

  bool make_room() {
    const auto victim = table_.expendable();
    if (!victim) return false;
    ++stats_.connections_refused;
    victim->close();
    return true;
  }

  // All connections are serving requests: answers 503 without reading the request.
  void turn_away(tcp::socket socket) {
    ++stats_.connections_refused;
    if (options_.tls) return;  // a handshake would take too long
    const Response response = error_response(503, "too_many_connections",
                                             "every connection of this server is busy; try again");
    std::string text;
    write_response_head(text, response, AfterReply::close, true);
    text += response.body;
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(text), ignored);
    socket.shutdown(tcp::socket::shutdown_send, ignored);
  }

  // The timer is only moved when it would fire too late; firing too early costs one look.
  void arm(Steady deadline) {
    if (deadline >= armed_for_) return;
    armed_for_ = deadline;
    deadline_timer_.expires_at(deadline);
    deadline_timer_.async_wait([weak = weak_from_this()](const error_code& ec) {
      const auto self = weak.lock();
      if (ec || !self) return;
      self->loop_.begin_task(LoopTask::timer);
      self->expire();
    });
  }

  void expire() {
    armed_for_ = Steady::max();
    const Steady now = std::chrono::steady_clock::now();
    while (const auto connection = table_.late(now)) connection->time_out();
    arm(table_.earliest_deadline());
  }

  void finish_drain_if_empty() {
    if (table_.size() != 0 || !drained_) return;
    grace_timer_.cancel();
    asio::post(loop_.context,
               [&loop = loop_, done = std::exchange(drained_, nullptr)] { loop.guarded(done); });
  }

  Loop::Impl& loop_;
  ServerOptions options_;
  Handler handler_;
  HeadCheck check_;
  tcp::acceptor acceptor_;
  asio::steady_timer deadline_timer_;  // one for all connections
  asio::steady_timer accept_timer_;    // the pause after a failed accept
  asio::steady_timer grace_timer_;
  Steady armed_for_ = Steady::max();
  ConnectionTable table_;
  bool on_loopback_ = false;
  bool draining_ = false;
  std::function<void()> drained_;
  Stats stats_;
};

Server::Server(Loop& loop, ServerOptions options, Handler handler, HeadCheck check)
    : impl_(std::make_shared<Impl>(loop.impl(), std::move(options), std::move(handler),
                                   std::move(check))) {}

Server::~Server() {
  impl_->drain({}, nullptr);
  impl_->close_all();
}

Result<std::uint16_t> Server::start() {
  auto port = impl_->listen();
  if (port.ok()) impl_->accept_next();
  return port;
}

bool Server::is_on_loopback() const { return impl_->is_on_loopback(); }

void Server::drain(std::chrono::milliseconds grace, std::function<void()> done) {
  impl_->drain(grace, std::move(done));
}

Server::Stats Server::stats() const { return impl_->stats(); }

}  // namespace chipweave::http
