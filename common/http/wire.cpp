#include "common/http/wire.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include <boost/asio/error.hpp>

namespace chipweave::http {

namespace asio = boost::asio;

Wire::Wire(Socket socket, const TlsContext* tls) : socket_(std::move(socket)) {
  error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  if (tls != nullptr) tls_ = std::make_unique<Secured>(*tls, socket_.native_handle());
}

void Wire::fail(Fault fault, error_code& ec) {
  fault_ = fault;
  ec = asio::error::connection_aborted;
}

// TLS begins with byte 22, every HTTP method with a capital letter. OpenSSL would find out too, but
// only for some methods, and send an alert that no HTTP client can read.
bool Wire::look_at_first_byte(error_code& ec) {
  char first = 0;
  const std::size_t n =
      socket_.receive(asio::buffer(&first, 1), asio::socket_base::message_peek, ec);
  if (ec || n == 0) {
    tls_->read_blocked = true;
    return false;
  }
  tls_->looked = true;
  if (first < 'A' || first > 'Z') return true;
  tls_.reset();
  fail(Fault::clear_text, ec);
  return false;
}

std::size_t Wire::read_tls(char* to, std::size_t room, error_code& ec) {
  ec = {};
  if (!tls_->looked && !look_at_first_byte(ec)) return 0;
  std::size_t n = 0;
  const TlsLink::Outcome how = tls_->link.read(to, room, n);
  tls_->read_wants_write = how == TlsLink::Outcome::want_write;
  tls_->read_blocked = how == TlsLink::Outcome::want_read || tls_->read_wants_write;
  if (n > 0) return n;
  if (how == TlsLink::Outcome::failed) {
    failure_ = tls_->link.failure();
    fail(Fault::bad_tls, ec);
  } else {
    ec = tls_->read_blocked ? error_code(asio::error::would_block) : error_code(asio::error::eof);
  }
  return 0;
}

std::size_t Wire::write_some(std::string_view head, std::string_view body, error_code& ec) {
  if (tls_) return write_tls(head, body, ec);
  const std::array<asio::const_buffer, 2> parts = {asio::buffer(head), asio::buffer(body)};
  return socket_.write_some(parts, ec);
}

std::size_t Wire::write_link(std::string_view bytes, error_code& ec) {
  std::size_t n = 0;
  const TlsLink::Outcome how = tls_->link.write(bytes, n);
  tls_->write_wants_read = how == TlsLink::Outcome::want_read;
  const bool blocked = tls_->write_wants_read || how == TlsLink::Outcome::want_write;
  ec = {};
  if (blocked) {
    ec = asio::error::would_block;
  } else if (how != TlsLink::Outcome::done) {
    ec = asio::error::eof;
  }
  return n;
}

// Head and the begin of the body share a record: two would be two packets and two decryptions.
std::size_t Wire::write_tls(std::string_view head, std::string_view body, error_code& ec) {
  if (!tls_->owed.empty()) {
    write_link(tls_->owed, ec);
    if (ec) return 0;
    tls_->owed.clear();
  }
  if (head.empty()) return write_link(body, ec);
  if (body.empty()) return write_link(head, ec);
  std::array<char, TlsLink::kRecordBytes> record;
  const std::size_t of_head = head.copy(record.data(), record.size());
  const std::size_t of_body = body.copy(record.data() + of_head, record.size() - of_head);
  return write_link({record.data(), of_head + of_body}, ec);
}

void Wire::say(std::string_view text) {
  error_code ec;
  if (!tls_) {
    socket_.write_some(asio::buffer(text), ec);
  } else if (tls_->link.established() && tls_->owed.empty()) {
    write_link(text, ec);
    if (ec == asio::error::would_block) tls_->owed = text;
  }
}

bool Wire::has_unread() const {
  error_code ec;
  return has_more() || (socket_.available(ec) > 0 && !ec);
}

bool Wire::trusted() const { return !tls_ || !tls_->asks_client || tls_->link.peer_certified(); }

void Wire::finish_sending() {
  if (tls_) tls_->link.finish();
  tls_.reset();
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void Wire::finish() {
  if (tls_) tls_->link.finish();
  error_code ignored;
  socket_.shutdown(Socket::shutdown_both, ignored);
}

void Wire::close() {
  if (tls_) tls_->link.finish();
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace chipweave::http
