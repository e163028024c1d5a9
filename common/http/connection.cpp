#include "common/http/connection.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "common/obs/log.hpp"

namespace chipweave::http {
namespace {

namespace asio = boost::asio;

// How much one connection may do before the others get a turn.
constexpr int kReadsPerTurn = 16;
constexpr int kRequestsPerTurn = 16;
constexpr std::size_t kBytesPerWrite = 256U << 10U;
constexpr std::size_t kBytesPerTurn = 1U << 20U;
// Replies up to this size are sent even if the budget is exhausted: the caller must learn the
// outcome.
constexpr std::size_t kSmallReply = 16U << 10U;

bool would_block(const boost::system::error_code& ec) {
  return ec == asio::error::would_block || ec == asio::error::try_again;
}

}  // namespace

Connection::Connection(ConnectionHost& host, Wire::Socket socket, const TlsContext* tls,
                       RequestReader::Limits limits)
    : host_(host), wire_(std::move(socket), tls), reader_(limits, this) {}

// The request is often there already.
void Connection::start() { on_readable({}); }

void Connection::close() {
  if (std::exchange(closed_, true)) return;
  // the buffers follow as soon as pending completions are done
  host_.budget.change(std::exchange(held_, 0), 0);
  wire_.close();
  host_.forget(*this);
}

bool Connection::has_unread() const { return wire_.has_unread(); }

bool Connection::has_begun_request() const { return reader_.state() != RequestReader::State::idle; }

void Connection::time_out() {
  const bool slow_request =
      place.phase == Phase::body ||
      (place.phase == Phase::header && reader_.state() == RequestReader::State::header);
  if (slow_request) {
    host_.count_bad_request();
    reply_and_close(408, "request_timeout", "the request did not arrive in time");
  }
  if (place.phase == Phase::working) {
    reply_and_close(504, "deadline", "no reply in time; the request may still take effect");
  }
  close();
}

void Connection::account() {
  if (closed_) return;
  const std::size_t now = reader_.held() + reply_held_;
  host_.budget.change(std::exchange(held_, now), now);
}

void Connection::evict() {
  host_.count_over_budget();
  if (place.phase != Phase::body) return close();
  const Response response = busy_response(reader_.refusal_shape());
  write_response_head(head_, response, AfterReply::close, true);
  wire_.try_send(head_ += response.body);
  // reading goes on, see linger()
  reader_.drop_all();
  account();
  wire_.finish_sending();
  host_.enter(*this, Phase::lingering);
}

// Best effort before closing: the client may be gone.
void Connection::reply_and_close(int status, std::string_view code, std::string_view message) {
  const Response response = error_response(reader_.refusal_shape(), status, code, message);
  write_response_head(head_, response, AfterReply::close, true);
  head_ += response.body;
  wire_.try_send(head_);
}

HeadVerdict Connection::check(RequestHead head) {
  head.trusted = wire_.trusted();
  head.peer = &wire_;
  return host_.check(head);
}

void Connection::wait_readable() {
  auto readable = [self = shared_from_this()](const error_code& ec) { self->on_readable(ec); };
  if (wire_.has_more()) {
    asio::post(wire_.executor(), [readable = std::move(readable)] { readable({}); });
  } else {
    wire_.async_wait_to_read(std::move(readable));
  }
}

void Connection::on_readable(const error_code& failure) {
  if (closed_) return;
  if (failure) return close();
  host_.begin_task(wire_.is_in_handshake() ? LoopTask::tls_handshake : LoopTask::request);
  for (int turn = 0; turn < kReadsPerTurn; ++turn) {
    error_code ec;
    const std::size_t n = wire_.read_some(host_.scratch.data(), host_.scratch.size(), ec);
    if (would_block(ec)) break;
    if (ec) return on_cut();
    if (place.phase != Phase::lingering) {
      const RequestReader::State state = reader_.feed({host_.scratch.data(), n});
      account();
      if (!proceed(state)) return;
    }
    if (n < host_.scratch.size() && !wire_.has_more()) break;
  }
  wait_readable();
}

// Usually the client has disconnected, possibly in the middle of a request.
void Connection::on_cut() {
  const Wire::Fault fault = wire_.take_fault();
  if (fault == Wire::Fault::clear_text)
    return refuse({400, "https_expected", "this port speaks HTTPS, not plain HTTP"});
  if (fault == Wire::Fault::bad_tls) {
    host_.count_bad_request();
    if (wire_.has_bad_certificate()) host_.refused_untrusted(wire_);
    // at debug: any client that reaches the port could fill the log
    obs::log(obs::Level::debug, "TLS refused", {{"reason", wire_.failure()}});
  }
  close();
}

bool Connection::proceed(RequestReader::State state) {
  switch (state) {
    case RequestReader::State::idle:
      return true;
    case RequestReader::State::header:
      if (place.phase == Phase::idle) host_.enter(*this, Phase::header);
      return true;
    case RequestReader::State::body:
      if (place.phase != Phase::body) host_.enter(*this, Phase::body);
      if (reader_.take_expect_continue()) send_continue();
      return true;
    case RequestReader::State::ready:
      serve_ready();
      return false;
    case RequestReader::State::failed:
      if (auto rejection = reader_.take_rejection()) {
        reject(std::move(*rejection));
      } else {
        refuse(reader_.refusal());
      }
      return false;
  }
  return false;
}

// The send buffer is empty here, so these 25 bytes go out whole; if not, the client sends the body
// after a while anyway.
void Connection::send_continue() { wire_.try_send("HTTP/1.1 100 Continue\r\n\r\n"); }

// Serves requests until one is incomplete, a reply does not go out at once, or the others must have
// a turn.
void Connection::serve_ready() {
  host_.begin_task(LoopTask::request);  // the end of a handshake may bring a request along
  for (int turn = 0; turn < kRequestsPerTurn; ++turn) {
    host_.enter(*this, Phase::replying);
    std::optional<Response> response = ask_handler();
    if (!response) return;
    start_reply(std::move(*response));
    if (!write_now()) return wait_writable();
    if (closed_) return;
    if (after_ == AfterReply::close) return reply_done();
    if (!next_is_ready()) return;
  }
  asio::post(wire_.executor(), [self = shared_from_this()] {
    if (!self->closed_) self->serve_ready();
  });
}

// Hands a reply that comes later to its connection, if that is still there.
class Connection::Pending final : public PendingReply {
 public:
  explicit Pending(std::weak_ptr<Connection> to) : to_(std::move(to)) {}
  ~Pending() override {
    const auto connection = std::exchange(sent_, true) ? nullptr : to_.lock();
    if (connection) connection->answered(internal_error(connection->reader_.refusal_shape()));
  }
  void send(Response response) override {
    const auto connection = std::exchange(sent_, true) ? nullptr : to_.lock();
    if (connection) connection->answered(std::move(response));
  }

 private:
  std::weak_ptr<Connection> to_;
  bool sent_ = false;
};

std::optional<Response> Connection::ask_handler() {
  if (auto rejection = reader_.take_rejection()) return rejection;
  Request request = reader_.request();
  request.trusted = wire_.trusted();
  request.peer = &wire_;
  std::optional<Answer> answer = host_.serve(request);
  if (closed_) return std::nullopt;
  reader_.drop_body();
  account();
  if (!answer) return internal_error(reader_.refusal_shape());
  if (auto* now = std::get_if<Response>(&*answer)) return std::move(*now);
  beginning_ = true;
  host_.begin(std::get<Later>(*answer), std::make_shared<Pending>(weak_from_this()));
  beginning_ = false;
  if (closed_) return std::nullopt;
  if (early_) return std::exchange(early_, std::nullopt);
  host_.enter(*this, Phase::working);
  return std::nullopt;
}

void Connection::answered(Response response) {
  if (closed_) return;
  if (beginning_) {
    early_ = std::move(response);
    return;
  }
  host_.enter(*this, Phase::replying);
  start_reply(std::move(response));
  finish_reply();
}

void Connection::refuse(const RequestReader::Refusal& refusal) {
  if (refusal.status == 503) {
    host_.count_over_budget();
    return reject(busy_response(reader_.refusal_shape()));
  }
  host_.count_bad_request();
  reject(error_response(reader_.refusal_shape(), refusal.status, refusal.code, refusal.message));
}

void Connection::reject(Response response) {
  host_.enter(*this, Phase::replying);
  refused_ = true;
  start_reply(std::move(response), AfterReply::close, !reader_.is_head());
  finish_reply();
}

void Connection::start_reply(Response response) {
  const bool keep = reader_.keep_alive() && !host_.draining() && !response.close;
  start_reply(std::move(response), keep ? AfterReply::keep_alive : AfterReply::close,
              !reader_.is_head());
}

void Connection::start_reply(Response response, AfterReply after, bool with_body) {
  std::size_t size = response.body.capacity();
  for (const std::string& piece : response.more) size += piece.capacity();
  if (size > kSmallReply && !host_.make_room(*this, size)) {
    host_.count_over_budget();
    return start_reply(busy_response(reader_.refusal_shape()), AfterReply::close, with_body);
  }
  response_ = std::move(response);
  reply_held_ = size;
  piece_ = 0;
  piece_begin_ = 0;
  account();
  after_ = after;
  write_response_head(head_, response_, after, reader_.is_http11());
  body_size_ = with_body && may_have_body(response_.status) ? response_.body_bytes() : 0;
  written_ = 0;
}

// One system call for head and body without copying; more only for large bodies, and for what does
// not fit the send buffer.
bool Connection::write_now() {
  const std::size_t total = head_.size() + body_size_;
  const std::size_t turn_ends = written_ + kBytesPerTurn;
  while (written_ < total) {
    if (written_ >= turn_ends) return false;
    const std::size_t head_done = std::min(written_, head_.size());
    const std::size_t body_done = written_ - head_done;
    error_code ec;
    written_ += wire_.write_some(
        std::string_view(head_).substr(head_done),
        piece_at(body_done).substr(0, std::min(body_size_ - body_done, kBytesPerWrite)), ec);
    if (would_block(ec)) return false;
    if (ec) {
      close();
      return true;
    }
  }
  return true;
}

std::string_view Connection::piece_at(std::size_t byte) {
  for (;;) {
    std::string& piece = piece_ == 0 ? response_.body : response_.more[piece_ - 1];
    if (byte < piece_begin_ + piece.size() || piece_ == response_.more.size())
      return std::string_view(piece).substr(byte - piece_begin_);
    piece_begin_ += piece.size();
    reply_held_ -= piece.capacity();
    std::string().swap(piece);
    ++piece_;
    account();
  }
}

void Connection::drop_reply() {
  std::string().swap(response_.body);
  std::vector<std::string>().swap(response_.more);
  reply_held_ = 0;
}

// Ends now or once the socket has taken the rest.
void Connection::finish_reply() {
  if (!write_now()) return wait_writable();
  if (!closed_) reply_done();
}

void Connection::wait_writable() {
  wire_.async_wait_to_write([self = shared_from_this()](const error_code& ec) {
    if (self->closed_) return;
    if (ec) return self->close();
    self->host_.begin_task(LoopTask::request);
    self->finish_reply();
  });
}

void Connection::reply_done() {
  if (refused_) return linger();
  if (after_ == AfterReply::close) {
    wire_.finish();
    return close();
  }
  if (next_is_ready()) serve_ready();
}

// Goes on to the next request; reads if it is not complete yet.
bool Connection::next_is_ready() {
  drop_reply();
  const RequestReader::State state = reader_.next();
  account();
  if (state == RequestReader::State::ready) return true;
  host_.enter(*this, Phase::idle);
  if (proceed(state)) wait_readable();
  return false;
}

// Closing with unread bytes would reset the connection and could take the answer from the client's
// hands.
void Connection::linger() {
  reader_.drop_all();
  drop_reply();
  account();
  wire_.finish_sending();
  host_.enter(*this, Phase::lingering);
  wait_readable();
}

}  // namespace chipweave::http
