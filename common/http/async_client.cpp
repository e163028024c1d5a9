#include "common/http/async_client.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "common/base/limits.hpp"
#include "common/http/client_connection.hpp"
#include "common/http/loop_impl.hpp"
#include "common/http/reply_reader.hpp"

namespace chipweave::http {
namespace {

using boost::system::error_code;
using SharedConnection = std::shared_ptr<ClientConnection>;
using Steady = std::chrono::steady_clock;

bool printable(std::string_view text, char least) {
  return std::all_of(text.begin(), text.end(), [least](char c) { return c >= least && c < 0x7f; });
}

std::string host_field(const Origin& origin) {
  const bool v6 = origin.host.find(':') != std::string::npos;
  std::string out = v6 ? "[" + origin.host + "]" : origin.host;
  if (origin.port != (origin.tls ? "443" : "80")) out += ":" + origin.port;
  return out;
}

Result<std::string> wire_text(const AsyncRequest& request, const Origin& origin) {
  const auto wrong = [](const char* what) {
    return make_error(Errc::invalid_argument, std::string("the request cannot be sent: ") + what);
  };
  if (request.target.empty() || request.target.front() != '/' || !printable(request.target, '!'))
    return wrong("its target is not a path");
  for (const auto& [name, value] : request.headers) {
    if (!printable(name, '!') || !printable(value, ' ')) return wrong("a header holds other bytes");
  }
  return request_text(request.method, request.target, host_field(origin), request.headers,
                      request.body);
}

}  // namespace

struct AsyncClient::Impl : std::enable_shared_from_this<Impl> {
  Impl(Loop::Impl& l, std::shared_ptr<SharedOrigin> o, Limits m)
      : loop(l), origin(std::move(o)), limits(m) {}

  Loop::Impl& loop;
  std::shared_ptr<SharedOrigin> origin;
  Limits limits;
  std::vector<SharedConnection> kept;
  std::size_t in_flight = 0;                  // calls that have their turn
  std::deque<std::function<bool()>> in_line;  // the others; false: no longer wanted
  bool closed = false;

  // Calls `turn` now or when another call is over.
  void enter(std::function<bool()> turn) {
    in_line.push_back(std::move(turn));
    next();
  }
  void leave() {
    --in_flight;
    next();
  }
  void next() {
    while (in_flight < limits.max_calls && !in_line.empty()) {
      const std::function<bool()> turn = std::move(in_line.front());
      in_line.pop_front();
      ++in_flight;
      if (!turn()) --in_flight;
    }
  }

  SharedConnection take_kept() {
    const auto oldest = Steady::now() - limits.keep_for;
    while (!kept.empty()) {
      SharedConnection last = std::move(kept.back());
      kept.pop_back();
      if (last->kept_since >= oldest && last->quiet()) return last;
      last->close();
    }
    return nullptr;
  }
  void close_kept() {
    for (const SharedConnection& connection : kept) connection->close();
    kept.clear();
  }
  void keep(SharedConnection connection) {
    const bool outdated = !connection->is_to(*origin);
    if (closed || outdated || kept.size() >= limits.max_calls) return connection->close();
    connection->kept_since = Steady::now();
    kept.push_back(std::move(connection));
  }
};

// One request in flight: from the connection to the last callback. A call is a stream without
// `bytes`: any reply is passed on whole.
class AsyncClient::Flight : public AsyncOperation<AsyncClient::Flight> {
 public:
  using Ms = std::chrono::milliseconds;

  // limit: of a call, or until the header of a stream.
  Flight(std::shared_ptr<Impl> client, const AsyncRequest& request, Ms limit, Ms idle,
         StreamSink sink)
      : client_(std::move(client)),
        repeatable_(request.method == "GET"),
        may_send_(request.may_send),
        limit_(limit),
        idle_(idle),
        sink_(std::move(sink)),
        timer_(client_->loop.context) {}

  static std::unique_ptr<Ticket> launch(const std::shared_ptr<Impl>& client,
                                        const AsyncRequest& request, Ms limit, Ms idle,
                                        StreamSink sink) {
    const auto flight = std::make_shared<Flight>(client, request, limit, idle, std::move(sink));
    flight->begin(wire_text(request, client->origin->origin));
    return ticket_of(flight);
  }

  void begin(Result<std::string> wire) {
    boost::asio::post(client_->loop.context, guarded([this, wire = std::move(wire)]() mutable {
                        if (!wire) return fail(std::move(wire).error());
                        wire_ = std::move(*wire);
                        wait(limit_);
                        if (is_stream()) return connect(true);
                        client_->enter([self = shared_from_this()] { return self->my_turn(); });
                      }));
  }

  void cancel() {
    over_ = true;
    timer_.cancel();
    if (connection_ != nullptr) connection_->close();
    connection_.reset();
    leave();
  }

 private:
  bool is_stream() const { return sink_.bytes != nullptr; }
  bool my_turn() {
    if (over_) return false;
    entered_ = true;
    connect(true);
    return true;
  }
  void leave() {
    if (std::exchange(entered_, false)) client_->leave();
  }

  void wait(std::chrono::milliseconds limit) {
    timer_.expires_after(limit);
    timer_.async_wait(guarded([this](const error_code& ec) {
      if (ec || timer_.expiry() > Steady::now()) return;
      const char* why =
          !is_stream() && !entered_ ? " was busy with other calls" : " did not answer in time";
      fail(make_error(Errc::deadline, "server " + client_->origin->origin.host + ":" +
                                          client_->origin->origin.port + why));
    }));
  }

  void connect(bool may_be_kept) {
    reader_.emplace(ReplyReader::Limits{limits::kMaxHttpHeaderBytes,
                                        is_stream() ? SIZE_MAX : client_->limits.max_reply_bytes},
                    true);
    connection_ = may_be_kept ? client_->take_kept() : nullptr;
    reused_ = connection_ != nullptr;
    if (reused_) return send();
    connection_ = std::make_shared<ClientConnection>(client_->loop.context, client_->origin);
    connection_->open(guarded([this](Result<void> opened) {
      if (!opened) return fail(std::move(opened).error());
      send();
    }));
  }

  void send() {
    if (may_send_ && !may_send_())
      return fail(make_error(Errc::unavailable, "the request was not sent: it was called off"));
    connection_->write(wire_, guarded([this](Result<void> wrote) {
                         if (!wrote) return lost(std::move(wrote).error());
                         read();
                       }));
  }

  void read() {
    connection_->read(guarded([this](Result<std::string_view> bytes) {
      client_->loop.begin_task(LoopTask::reply);
      if (!bytes) return lost(std::move(bytes).error());
      const ReplyReader::State state =
          bytes->empty() ? reader_->end_of_stream() : reader_->feed(*bytes);
      if (bytes->empty() && !reader_->has_begun()) {
        return lost(make_error(Errc::unavailable, "the server closed before it answered"));
      }
      took(state);
    }));
  }

  void took(ReplyReader::State state) {
    if (state == ReplyReader::State::too_large)
      return fail(make_error(Errc::limit_exceeded, "the server's reply is too large"));
    if (is_stream() && reader_->has_header() && reader_->status() == 200) {
      wait(idle_);
      const std::string bytes = std::exchange(reader_->body(), std::string());
      if (!bytes.empty()) sink_.bytes(bytes);
      if (over_) return;
    }
    switch (state) {
      case ReplyReader::State::more:
        return read();
      case ReplyReader::State::done:
        return finish();
      default:
        return fail(make_error(Errc::unavailable, "the server's reply was cut off or is not HTTP"));
    }
  }

  // A connection that was kept may have been closed by the server while the request was in flight.
  void lost(Error why) {
    if (reused_ && repeatable_ && !reader_->has_begun()) {
      connection_->close();
      return connect(false);
    }
    fail(std::move(why));
  }

  AsyncReply reply() {
    AsyncReply out;
    out.status = reader_->status();
    out.body = std::move(reader_->body());
    if (reader_->retry_after() >= 0) out.retry_after = std::chrono::seconds(reader_->retry_after());
    return out;
  }

  void finish() {
    over_ = true;
    timer_.cancel();
    if (reader_->keep_alive()) {
      client_->keep(std::exchange(connection_, nullptr));
    } else {
      connection_->close();
    }
    leave();
    if (!is_stream() || reader_->status() != 200) return sink_.refused(reply());
    sink_.ended({});
  }

  void fail(Error why) {
    cancel();
    sink_.ended(std::move(why));
  }

  std::shared_ptr<Impl> client_;
  bool repeatable_;
  std::function<bool()> may_send_;
  Ms limit_;
  Ms idle_;
  StreamSink sink_;
  boost::asio::steady_timer timer_;
  std::string wire_;
  SharedConnection connection_;
  std::optional<ReplyReader> reader_;
  bool reused_ = false;
  bool entered_ = false;  // it counts as in flight
};

AsyncClient::AsyncClient(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

AsyncClient::~AsyncClient() {
  impl_->closed = true;
  impl_->close_kept();
  impl_->in_line.clear();
}

Result<std::unique_ptr<AsyncClient>> AsyncClient::make(Loop& loop, Origin origin, Limits limits) {
  auto shared = SharedOrigin::make(std::move(origin));
  if (!shared) return std::move(shared).error();
  return std::unique_ptr<AsyncClient>(
      new AsyncClient(std::make_shared<Impl>(loop.impl(), std::move(*shared), limits)));
}

Result<void> AsyncClient::use_credentials(ClientPem pem) {
  Origin next = impl_->origin->origin;
  next.pem = std::move(pem);
  auto shared = SharedOrigin::make(std::move(next));
  if (!shared) return std::move(shared).error();
  impl_->origin = std::move(*shared);
  impl_->close_kept();
  return {};
}

std::unique_ptr<Ticket> AsyncClient::call(const AsyncRequest& request,
                                          std::chrono::milliseconds deadline,
                                          std::function<void(Result<AsyncReply>)> done) {
  StreamSink sink;
  sink.refused = [done](AsyncReply reply) { done(std::move(reply)); };
  sink.ended = [done = std::move(done)](Result<void> failed) { done(std::move(failed).error()); };
  return Flight::launch(impl_, request, deadline, {}, std::move(sink));
}

std::unique_ptr<Ticket> AsyncClient::stream(const AsyncRequest& request,
                                            std::chrono::milliseconds idle, StreamSink sink) {
  return Flight::launch(impl_, request, impl_->limits.stream_begin, idle, std::move(sink));
}

}  // namespace chipweave::http
