#include "tests/component/kube_api/certificates.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace chipweave::test {
namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* what) const {
    Free(what);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;

void require(bool good) {
  if (!good) throw std::runtime_error("OpenSSL refuses to make a certificate");
}

std::string text_of(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_ctrl(bio.get(), BIO_CTRL_INFO, 0, &data);
  return {data, static_cast<std::size_t>(size)};
}

Bio reader(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

void extend(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  require(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

Pem finish(const Certificate& certificate, const Key& key, EVP_PKEY* signer) {
  require(X509_sign(certificate.get(), signer, EVP_sha256()) > 0);
  const Bio out(BIO_new(BIO_s_mem()));
  const Bio secret(BIO_new(BIO_s_mem()));
  require(PEM_write_bio_X509(out.get(), certificate.get()) == 1);
  require(PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                   nullptr) == 1);
  return {text_of(out), text_of(secret)};
}

constexpr long kHour = 3600;

Certificate blank(const Key& key, const std::string& name, long serial, long seconds) {
  Certificate c(X509_new());
  require(c != nullptr && X509_set_version(c.get(), 2) == 1);
  ASN1_INTEGER_set(X509_get_serialNumber(c.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(c.get()), std::min(seconds, 0L) - kHour);
  X509_gmtime_adj(X509_getm_notAfter(c.get()), seconds);
  require(X509_set_pubkey(c.get(), key.get()) == 1);
  require(X509_NAME_add_entry_by_txt(X509_get_subject_name(c.get()), "CN", MBSTRING_ASC,
                                     reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1,
                                     0) == 1);
  return c;
}

}  // namespace

Pem make_authority(const std::string& name) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate c = blank(key, name, 1, kHour);
  require(X509_set_issuer_name(c.get(), X509_get_subject_name(c.get())) == 1);
  extend(c.get(), c.get(), NID_basic_constraints, "critical,CA:TRUE");
  extend(c.get(), c.get(), NID_key_usage, "critical,keyCertSign");
  return finish(c, key, key.get());
}

Pem make_certificate(const Pem& authority, const std::string& subject_alternative, long seconds) {
  const Certificate issuer(
      PEM_read_bio_X509(reader(authority.certificate).get(), nullptr, nullptr, nullptr));
  const Key signer(PEM_read_bio_PrivateKey(reader(authority.key).get(), nullptr, nullptr, nullptr));
  require(issuer != nullptr && signer != nullptr);
  const Key key(EVP_EC_gen("P-256"));
  const Certificate c = blank(key, "kube-apiserver", 2, seconds);
  require(X509_set_issuer_name(c.get(), X509_get_subject_name(issuer.get())) == 1);
  extend(c.get(), issuer.get(), NID_subject_alt_name, subject_alternative);
  return finish(c, key, signer.get());
}

}  // namespace chipweave::test
