#include "common/http/client_connection.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/write.hpp>

#include "common/base/ip_address.hpp"
#include "common/http/tls_link.hpp"

namespace chipweave::http {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;

Error failed(const Origin& origin, const char* what, const boost::system::error_code& ec) {
  return make_error(Errc::unavailable, "server " + origin.host + ":" + origin.port + ": " + what +
                                           ": " + ec.message());
}

// Before the handshake: the peer's certificate must be for `name`, a DNS name or an address; only a
// DNS name is also sent to the server (RFC 6066). Without verification the certificate is not
// checked.
void expect_server_name(SSL* ssl, const std::string& name) {
  if (parse_ip(name)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str());
    return;
  }
  SSL_set1_host(ssl, name.c_str());
  // a macro of OpenSSL with an old-style cast inside
  SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
           const_cast<char*>(name.c_str()));
}

}  // namespace

Result<std::shared_ptr<SharedOrigin>> SharedOrigin::make(Origin given) {
  auto shared = std::make_shared<SharedOrigin>();
  shared->origin = std::move(given);
  const Origin& origin = shared->origin;
  if (!origin.tls) return shared;
  ssl::context& c = shared->tls;
  boost::system::error_code ec;
  const auto wrong = [&ec](const char* what) {
    return make_error(Errc::invalid_argument, std::string(what) + ": " + ec.message());
  };
  // a key under a passphrase is refused instead of asking the terminal
  c.set_password_callback([](std::size_t, ssl::context::password_purpose) { return std::string(); },
                          ec);
  if (SSL_CTX_set_min_proto_version(c.native_handle(), TLS1_2_VERSION) != 1)
    return make_error(Errc::internal, "TLS 1.2 cannot be required");
  if (!origin.verify) {
    c.set_verify_mode(ssl::verify_none, ec);
  } else {
    c.set_verify_mode(ssl::verify_peer, ec);
    if (origin.pem.ca.empty()) {
      c.set_default_verify_paths(ec);
    } else {
      c.add_certificate_authority(asio::buffer(origin.pem.ca), ec);
    }
    if (ec) return wrong("the CA is not a PEM certificate");
    // Asio accepts text without any certificate
    const auto* known = X509_STORE_get0_objects(SSL_CTX_get_cert_store(c.native_handle()));
    if (!origin.pem.ca.empty() && sk_X509_OBJECT_num(known) == 0)
      return make_error(Errc::invalid_argument, "the CA contains no PEM certificate");
  }
  if (!origin.pem.certificate.empty()) {
    c.use_certificate_chain(asio::buffer(origin.pem.certificate), ec);
    if (ec) return wrong("the client certificate is not a PEM certificate");
    c.use_private_key(asio::buffer(origin.pem.key), ssl::context::pem, ec);
    if (ec) return wrong("the client key is not the PEM key of that certificate");
  }
  return shared;
}

bool announces_body(std::string_view method, std::string_view body) {
  return !body.empty() || method == "POST" || method == "PUT" || method == "PATCH";
}

std::string request_text(std::string_view method, std::string_view target, std::string_view host,
                         const std::vector<std::pair<std::string, std::string>>& headers,
                         std::string_view body) {
  std::string text(method);
  text.append(" ").append(target).append(" HTTP/1.1\r\nHost: ").append(host).append("\r\n");
  for (const auto& [name, value] : headers)
    text.append(name).append(": ").append(value).append("\r\n");
  if (announces_body(method, body))
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return text.append("\r\n").append(body);
}

ClientConnection::ClientConnection(asio::io_context& context, std::shared_ptr<SharedOrigin> to)
    : to_(std::move(to)), resolver_(context) {
  if (to_->origin.tls) {
    secure_.emplace(context, to_->tls);
  } else {
    plain_.emplace(context);
  }
}

boost::asio::ip::tcp::socket& ClientConnection::socket() {
  return secure_ ? secure_->next_layer() : *plain_;
}

void ClientConnection::open(Opened done) {
  resolver_.async_resolve(
      to_->origin.host, to_->origin.port, tcp::resolver::numeric_service,
      [self = shared_from_this(), done = std::move(done)](
          const error_code& ec, const tcp::resolver::results_type& found) mutable {
        if (ec) return done(failed(self->to_->origin, "name cannot be resolved", ec));
        asio::async_connect(
            self->socket(), found,
            [self, done = std::move(done)](const error_code& not_connected,
                                           const tcp::endpoint&) mutable {
              if (not_connected)
                return done(failed(self->to_->origin, "cannot connect", not_connected));
              error_code ignored;
              self->socket().set_option(tcp::no_delay(true), ignored);
              self->socket().set_option(asio::socket_base::keep_alive(true), ignored);
              if (!self->secure_) return done({});
              self->handshake(std::move(done));
            });
      });
}

void ClientConnection::handshake(Opened done) {
  const Origin& origin = to_->origin;
  const std::string& name = origin.pem.server_name.empty() ? origin.host : origin.pem.server_name;
  expect_server_name(secure_->native_handle(), name);
  secure_->async_handshake(
      ssl::stream_base::client,
      [self = shared_from_this(), done = std::move(done)](const error_code& ec) {
        if (!ec) return done({});
        Error why = failed(self->to_->origin, "TLS handshake", ec);
        why.message += distrust(self->secure_->native_handle());
        done(std::move(why));
      });
}

void ClientConnection::write(std::string_view bytes, Wrote done) {
  auto wrote = [self = shared_from_this(), done = std::move(done)](const error_code& ec,
                                                                   std::size_t) {
    done(ec ? Result<void>(failed(self->to_->origin, "cannot send", ec)) : Result<void>());
  };
  const auto buffer = asio::buffer(bytes.data(), bytes.size());
  if (secure_) {
    asio::async_write(*secure_, buffer, std::move(wrote));
  } else {
    asio::async_write(*plain_, buffer, std::move(wrote));
  }
}

void ClientConnection::read(Read done) {
  auto came = [self = shared_from_this(), done = std::move(done)](const error_code& ec,
                                                                  std::size_t n) {
    // The server closed without close_notify: truncation still shows in HTTP's own framing.
    if (ec == asio::error::eof || ec == ssl::error::stream_truncated)
      return done(std::string_view());
    if (ec) return done(failed(self->to_->origin, "the connection was cut", ec));
    done(std::string_view(self->buffer_.data(), n));
  };
  if (secure_) {
    secure_->async_read_some(asio::buffer(buffer_), std::move(came));
  } else {
    plain_->async_read_some(asio::buffer(buffer_), std::move(came));
  }
}

void ClientConnection::close() {
  error_code ignored;
  resolver_.cancel();
  socket().close(ignored);
}

bool ClientConnection::quiet() {
  char byte = 0;
  const auto n = ::recv(socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace chipweave::http
