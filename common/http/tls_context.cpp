#include "common/http/tls_context.hpp"

#include <ctime>
#include <utility>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "common/http/client_connection.hpp"

namespace chipweave::http {
namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* what) const {
    Free(what);
  }
};
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;

constexpr int kSecurityLevel = 2;  // 112 bits: no RSA below 2048, no SHA-1 signatures
constexpr unsigned char kHttp11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
constexpr unsigned char kTicketsOf[] = "chipweave";

Bio reader(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Error wrong(const std::string& name, const char* what) {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  return make_error(Errc::invalid_argument,
                    name + " " + what + (reason == nullptr ? "" : std::string(": ") + reason));
}

// Whether reading certificates ended because there are no more, not in the middle of one.
bool at_end() {
  const auto last = ERR_peek_last_error();
  const bool end = ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
  if (end) ERR_clear_error();
  return end;
}

// A key under a passphrase is refused; OpenSSL's default would ask the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

Certificate next_certificate(BIO* from) {
  return Certificate(PEM_read_bio_X509(from, nullptr, no_passphrase, nullptr));
}

Result<void> use_chain(SSL_CTX* context, const ServerPem& pem, const PemNames& names) {
  const Bio text = reader(pem.certificate);
  const Certificate own = next_certificate(text.get());
  if (own == nullptr) return wrong(names.certificate, "contains no PEM certificate");
  if (SSL_CTX_use_certificate(context, own.get()) != 1)
    return wrong(names.certificate, "cannot be used");
  while (const Certificate each = next_certificate(text.get())) {
    if (SSL_CTX_add1_chain_cert(context, each.get()) != 1)
      return wrong(names.certificate, "has a chain that cannot be used");
  }
  if (!at_end()) return wrong(names.certificate, "has a chain that is cut short or broken");
  const Key key(PEM_read_bio_PrivateKey(reader(pem.key).get(), nullptr, no_passphrase, nullptr));
  if (key == nullptr) return wrong(names.key, "contains no PEM key without passphrase");
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1)
    return wrong(names.key, ("is not the key of " + names.certificate).c_str());
  return {};
}

// A client without certificate gets through the handshake: probes have none, and the handler
// decides what they may see (Request::trusted).
Result<void> ask_clients(SSL_CTX* context, const ServerPem& pem, const PemNames& names) {
  const Bio text = reader(pem.client_ca);
  int found = 0;
  for (; const Certificate each = next_certificate(text.get()); ++found) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), each.get()) != 1)
      return wrong(names.client_ca, "cannot be used");
  }
  if (!at_end() || found == 0)
    return wrong(names.client_ca, "contains no PEM certificates, or an invalid one");
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  return {};
}

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size, void*) {
  unsigned char* found = nullptr;
  const int result =
      SSL_select_next_proto(&found, size, kHttp11, sizeof kHttp11, offered, offered_size);
  *chosen = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

TlsContext::Wall end_of(const X509* certificate) {
  std::tm end{};
  ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end);
  return std::chrono::system_clock::from_time_t(::timegm(&end));
}

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::make(const ServerPem& pem, const PemNames& names) {
  ERR_clear_error();
  const std::shared_ptr<TlsContext> out(new TlsContext);
  out->context_ = std::shared_ptr<SSL_CTX>(SSL_CTX_new(TLS_server_method()), Freed<SSL_CTX_free>());
  SSL_CTX* c = out->native();
  if (c == nullptr || SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION) != 1)
    return make_error(Errc::internal, "TLS 1.2 cannot be required");
  SSL_CTX_set_security_level(c, kSecurityLevel);
  // Clients may close without close_notify: HTTP's own framing shows what is cut short.
  SSL_CTX_set_options(
      c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  // Sessions go on by tickets, which cost no memory here.
  SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_session_id_context(c, kTicketsOf, sizeof kTicketsOf - 1);
  SSL_CTX_set_alpn_select_cb(c, choose_protocol, nullptr);
  if (auto ok = use_chain(c, pem, names); !ok) return std::move(ok).error();
  if (!pem.client_ca.empty()) {
    if (auto ok = ask_clients(c, pem, names); !ok) return std::move(ok).error();
    out->asks_clients_ = true;
  }
  out->not_after_ = end_of(SSL_CTX_get0_certificate(c));
  return out;
}

Result<void> check_client_pem(const ClientPem& pem) {
  Origin origin;
  origin.pem = pem;
  auto made = SharedOrigin::make(std::move(origin));
  if (!made) return std::move(made).error();
  return {};
}

}  // namespace chipweave::http
