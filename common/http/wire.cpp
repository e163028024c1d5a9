#include "common/http/wire.hpp"

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

// TLS begins with byte 22, every HTTP method with a capital letter. OpenSSL would find out too, but
// only for some methods, and send an alert that no HTTP client can read.
bool Wire::look_at_first_byte(error_code& ec) {
  char first = 0;
  const std::size_t n =
      socket_.receive(asio::buffer(&first, 1), asio::socket_base::message_peek, ec);
  if (ec || n == 0) return false;
  tls_->looked = true;
  if (first < 'A' || first > 'Z') return true;
  tls_.reset();
  fault_ = Fault::clear_text;
  ec = asio::error::connection_aborted;
  return false;
}

std::size_t Wire::read_tls(char* to, std::size_t room, error_code& ec) {
  if (!tls_->looked && !look_at_first_byte(ec)) return 0;
  const std::size_t n = tls_->link.read(to, room, ec);
  if (ec == asio::error::connection_aborted) fault_ = Fault::bad_tls;
  return n;
}

std::size_t Wire::write_some(std::string_view head, std::string_view body, error_code& ec) {
  if (tls_) return write_tls(head, body, ec);
  const std::array<asio::const_buffer, 2> parts = {asio::buffer(head), asio::buffer(body)};
  return socket_.write_some(parts, ec);
}

// Head and the begin of the body share a record: two would be two packets and two decryptions.
std::size_t Wire::write_tls(std::string_view head, std::string_view body, error_code& ec) {
  if (!tls_->owed.empty()) {
    tls_->link.write(tls_->owed, ec);
    if (ec) return 0;
    tls_->owed.clear();
  }
  if (head.empty()) return tls_->link.write(body, ec);
  if (body.empty()) return tls_->link.write(head, ec);
  std::array<char, TlsLink::kRecordBytes> record;
  const std::size_t of_head = head.copy(record.data(), record.size());
  const std::size_t of_body = body.copy(record.data() + of_head, record.size() - of_head);
  return tls_->link.write({record.data(), of_head + of_body}, ec);
}

void Wire::try_send(std::string_view text) {
  error_code ec;
  if (!tls_) {
    socket_.write_some(asio::buffer(text), ec);
  } else if (tls_->link.established() && tls_->owed.empty()) {
    tls_->link.write(text, ec);
    if (ec == asio::error::would_block) tls_->owed = text;
  }
}

bool Wire::has_unread() const {
  error_code ec;
  return has_more() || (socket_.available(ec) > 0 && !ec);
}

bool Wire::trusted() const { return !tls_ || !tls_->asks_client || tls_->link.peer_certified(); }

std::string Wire::address() const {
  error_code ec;
  const auto remote = socket_.remote_endpoint(ec);
  return ec ? std::string() : remote.address().to_string();
}

const std::vector<std::string>& Wire::names() const {
  static const std::vector<std::string> none;
  if (!tls_) return none;
  if (!tls_->names) tls_->names = tls_->link.peer_names();
  return *tls_->names;
}

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
