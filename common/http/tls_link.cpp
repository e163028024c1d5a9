#include "common/http/tls_link.hpp"

#include <new>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <boost/asio/error.hpp>

namespace chipweave::http {

namespace asio = boost::asio;

void TlsLink::Free::operator()(ssl_st* ssl) const { SSL_free(ssl); }

TlsLink::TlsLink(ssl_ctx_st* context, int descriptor) : ssl_(SSL_new(context)) {
  BIO* bio = BIO_new_socket(descriptor, BIO_NOCLOSE);  // its writes may raise SIGPIPE: see Loop
  if (ssl_ == nullptr || bio == nullptr) {
    BIO_free(bio);
    throw std::bad_alloc();
  }
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
  const bool sent = (SSL_get_shutdown(ssl_.get()) & SSL_SENT_SHUTDOWN) != 0;
  if (!established() || !failure_.empty() || sent) return;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
}

bool TlsLink::has_bad_certificate() const {
  return !failure_.empty() && !distrust(ssl_.get()).empty();
}

bool TlsLink::established() const { return SSL_is_init_finished(ssl_.get()) == 1; }

bool TlsLink::peer_certified() const {
  return SSL_get0_peer_certificate(ssl_.get()) != nullptr &&
         SSL_get_verify_result(ssl_.get()) == X509_V_OK;
}

namespace {

// With the length that the certificate states: a NUL inside does not end a name.
std::string asn1_text(const ASN1_STRING* text) {
  const unsigned char* data = ASN1_STRING_get0_data(text);
  return {data, data + ASN1_STRING_length(text)};
}

void add_common_name(X509* certificate, std::vector<std::string>& to) {
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return;
  unsigned char* utf8 = nullptr;
  const int size =
      ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  if (size > 0) to.emplace_back(utf8, utf8 + size);
  OPENSSL_free(utf8);
}

}  // namespace

std::vector<std::string> TlsLink::peer_names() const {
  std::vector<std::string> out;
  if (!peer_certified()) return out;
  X509* certificate = SSL_get0_peer_certificate(ssl_.get());
  auto* found = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(found); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(found, i);
    if (name->type == GEN_DNS) out.push_back(asn1_text(name->d.dNSName));
    if (name->type == GEN_URI) out.push_back(asn1_text(name->d.uniformResourceIdentifier));
  }
  GENERAL_NAMES_free(found);
  add_common_name(certificate, out);
  return out;
}

}  // namespace chipweave::http
