// TlsSocket — a client on plain OpenSSL that sends any bytes it likes under TLS; every write is a
// record of its own.
#pragma once

#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "tests/component/kube_api/certificates.hpp"
#include "tests/unit/http/running_server.hpp"

namespace chipweave::http {

struct TlsWish {
  std::string ca;    // empty: the server is not verified
  test::Pem own;     // empty: no client certificate
  int version = 0;   // at most; 0: any
  std::string alpn;  // as on the wire, "\x02h2"
  int receive_buffer = 0;
};

class TlsSocket : public RawSocket {
 public:
  TlsSocket(std::uint16_t port, const TlsWish& wish = {}) : RawSocket(port, wish.receive_buffer) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's sockets raise it
    context_.reset(SSL_CTX_new(TLS_client_method()));
    SSL_CTX* c = context_.get();
    if (!wish.ca.empty()) {
      SSL_CTX_set_verify(c, SSL_VERIFY_PEER, nullptr);
      const auto certificate = read_certificate(wish.ca);
      X509_STORE_add_cert(SSL_CTX_get_cert_store(c), certificate.get());
    }
    if (!wish.own.certificate.empty()) {
      const auto certificate = read_certificate(wish.own.certificate);
      const std::unique_ptr<BIO, decltype(&BIO_free_all)> text(
          BIO_new_mem_buf(wish.own.key.data(), static_cast<int>(wish.own.key.size())),
          &BIO_free_all);
      const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
          PEM_read_bio_PrivateKey(text.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
      SSL_CTX_use_certificate(c, certificate.get());
      SSL_CTX_use_PrivateKey(c, key.get());
    }
    if (wish.version != 0) {
      SSL_CTX_set_security_level(c, 0);  // otherwise this side would not even try
      SSL_CTX_set_min_proto_version(c, TLS1_VERSION);
      SSL_CTX_set_max_proto_version(c, wish.version);
    }
    ssl_.reset(SSL_new(c));
    if (!wish.alpn.empty()) {
      SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(wish.alpn.data()),
                          static_cast<unsigned>(wish.alpn.size()));
    }
    SSL_set_fd(ssl_.get(), descriptor());
    connected_ = SSL_connect(ssl_.get()) == 1;
  }

  bool connected() const { return connected_; }
  bool send(std::string_view bytes) override {
    return connected_ && SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0;
  }
  // Bypasses TLS.
  bool send_raw(std::string_view bytes) { return RawSocket::send(bytes); }
  void send_close_notify() { SSL_shutdown(ssl_.get()); }
  // Whether the server has sent close_notify, not just closed. Call it after reading to the end.
  bool got_close_notify() const {
    return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }
  std::string protocol() const {
    const unsigned char* text = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &text, &size);
    return size == 0 ? std::string() : std::string(reinterpret_cast<const char*>(text), size);
  }
  int version() const { return SSL_version(ssl_.get()); }
  std::string certificate() const {
    const std::unique_ptr<BIO, decltype(&BIO_free_all)> out(BIO_new(BIO_s_mem()), &BIO_free_all);
    PEM_write_bio_X509(out.get(), SSL_get0_peer_certificate(ssl_.get()));
    char* data = nullptr;
    const long size = BIO_ctrl(out.get(), BIO_CTRL_INFO, 0, &data);
    return {data, static_cast<std::size_t>(size)};
  }

 protected:
  ssize_t take(char* to, std::size_t room) override {
    return connected_ ? SSL_read(ssl_.get(), to, static_cast<int>(room)) : -1;
  }

 private:
  static std::unique_ptr<X509, decltype(&X509_free)> read_certificate(const std::string& pem) {
    const std::unique_ptr<BIO, decltype(&BIO_free_all)> text(
        BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free_all);
    return {PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr), &X509_free};
  }

  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{nullptr, &SSL_CTX_free};
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{nullptr, &SSL_free};
  bool connected_ = false;
};

}  // namespace chipweave::http
