#include "common/http/server_name.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

namespace chipweave::http {
namespace {

bool is_address(const std::string& host) {
  in6_addr ignored{};
  return ::inet_pton(AF_INET, host.c_str(), &ignored) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

}  // namespace

void expect_server_name(ssl_st* ssl, const std::string& name) {
  if (is_address(name)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str());
    return;
  }
  SSL_set1_host(ssl, name.c_str());
  // a macro of OpenSSL with an old-style cast inside
  SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
           const_cast<char*>(name.c_str()));
}

std::string distrust(const ssl_st* ssl) {
  const long verified = SSL_get_verify_result(ssl);
  if (verified == X509_V_OK || SSL_get_verify_mode(ssl) == SSL_VERIFY_NONE) return {};
  return std::string(" (") + X509_verify_cert_error_string(verified) + ")";
}

}  // namespace chipweave::http
