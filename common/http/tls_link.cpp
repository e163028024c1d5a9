#include "common/http/tls_link.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <new>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <boost/asio/error.hpp>

namespace chipweave::http {
namespace {

namespace asio = boost::asio;

// OpenSSL's own socket BIO writes without MSG_NOSIGNAL: a peer that is gone would end the program.
int descriptor_of(BIO* bio) { return *static_cast<const int*>(BIO_get_data(bio)); }

bool try_again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

int bio_write(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const auto n = ::send(descriptor_of(bio), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (n < 0 && try_again()) BIO_set_retry_write(bio);
  return static_cast<int>(n);
}

int bio_read(BIO* bio, char* to, int room) {
  BIO_clear_retry_flags(bio);
  const auto n = ::recv(descriptor_of(bio), to, static_cast<std::size_t>(room), 0);
  if (n < 0 && try_again()) BIO_set_retry_read(bio);
  return static_cast<int>(n);
}

long bio_control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

const BIO_METHOD* socket_method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    if (made == nullptr) throw std::bad_alloc();
    BIO_meth_set_write(made, bio_write);
    BIO_meth_set_read(made, bio_read);
    BIO_meth_set_ctrl(made, bio_control);
    return made;
  }();
  return method;
}

}  // namespace

void TlsLink::Free::operator()(ssl_st* ssl) const { SSL_free(ssl); }

TlsLink::TlsLink(ssl_ctx_st* context, int descriptor)
    : descriptor_(descriptor), ssl_(SSL_new(context)) {
  BIO* bio = BIO_new(socket_method());
  if (ssl_ == nullptr || bio == nullptr) {
    BIO_free(bio);
    throw std::bad_alloc();
  }
  BIO_set_data(bio, &descriptor_);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  // Writes are tried again with the same bytes, but maybe elsewhere; idle connections give their
  // buffers back.
  SSL_set_mode(ssl_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                               SSL_MODE_RELEASE_BUFFERS);
  SSL_set_accept_state(ssl_.get());
}

std::string distrust(const ssl_st* ssl) {
  const long verified = SSL_get_verify_result(ssl);
  if (verified == X509_V_OK || SSL_get_verify_mode(ssl) == SSL_VERIFY_NONE) return {};
  return std::string(" (") + X509_verify_cert_error_string(verified) + ")";
}

boost::system::error_code TlsLink::outcome(int result, Wait& wait) {
  wait = Wait::none;
  if (result == 1) return {};
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      wait = Wait::readable;
      return asio::error::would_block;
    case SSL_ERROR_WANT_WRITE:
      wait = Wait::writable;
      return asio::error::would_block;
    case SSL_ERROR_ZERO_RETURN:
    case SSL_ERROR_SYSCALL:
      return asio::error::eof;
    default:
      break;
  }
  const char* reason = ERR_reason_error_string(ERR_peek_error());
  failure_ = (reason == nullptr ? "TLS protocol error" : reason) + distrust(ssl_.get());
  return asio::error::connection_aborted;
}

std::size_t TlsLink::read(char* to, std::size_t room, error_code& ec) {
  ERR_clear_error();
  ec = {};
  std::size_t got = 0;
  while (!ec && got < room) {
    std::size_t n = 0;
    ec = outcome(SSL_read_ex(ssl_.get(), to + got, room - got, &n), read_wait_);
    got += n;
  }
  if (got > 0) ec = {};  // an error comes again with the next read
  return got;
}

std::size_t TlsLink::write(std::string_view bytes, error_code& ec) {
  ERR_clear_error();
  std::size_t taken = 0;
  ec = outcome(SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &taken), write_wait_);
  return taken;
}

void TlsLink::finish() {
  const bool said = (SSL_get_shutdown(ssl_.get()) & SSL_SENT_SHUTDOWN) != 0;
  if (!established() || !failure_.empty() || said) return;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
}

bool TlsLink::established() const { return SSL_is_init_finished(ssl_.get()) == 1; }

bool TlsLink::peer_certified() const {
  return SSL_get0_peer_certificate(ssl_.get()) != nullptr &&
         SSL_get_verify_result(ssl_.get()) == X509_V_OK;
}

}  // namespace chipweave::http
