// ClientCredentials — the TLS credentials of a client, read again when their files change: a
// server's CA and client certificates are replaced while programs run. Valid new content replaces
// the old; invalid content is logged once and the old content stays in use.
//
// Each check reads the files and compares their content, as CertificateFiles does for servers.
// Owner: one thread.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "common/base/result.hpp"
#include "common/base/tls_pem.hpp"
#include "common/tls/client_files.hpp"
#include "common/tls/refusals.hpp"

namespace chipweave::tls {

class ClientCredentials {
 public:
  // files: those that may change; an empty name: that part of `pem` stays as it is. what: whose
  // credentials these are, for the log: "API server".
  ClientCredentials(ClientFiles files, ClientPem pem, std::string what)
      : files_(std::move(files)), pem_(std::move(pem)), what_(std::move(what)) {}

  // Reads the files. use: takes changed content, or says why it cannot be used.
  void check(const std::function<Result<void>(const ClientPem&)>& use);

 private:
  Result<ClientPem> read() const;

  ClientFiles files_;
  ClientPem pem_;  // in use
  std::string what_;
  Refusals<ClientPem> refusals_;
};

}  // namespace chipweave::tls
