// CertificateFiles — a server's certificate, key and client CA, reloaded when the files change.
// Valid new content replaces the old; invalid content is logged once and the old content stays in
// use.
//
// Each check reads the files and compares their content: a Secret volume swaps a symbolic link
// above them, and modification times are unreliable on some mounts. Owner: the loop thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/clock.hpp"
#include "common/base/result.hpp"
#include "common/base/tls_pem.hpp"
#include "common/http/tls_context.hpp"
#include "common/tls/refusals.hpp"

namespace chipweave::tls {

class CertificateFiles {
 public:
  // names: file names; client_ca may be empty: clients need no certificate.
  // Errors name the file: those of io::read_file, and invalid_argument.
  static Result<std::unique_ptr<CertificateFiles>> open(const Clock& clock, http::PemNames names);

  // For the HTTP server; updated by check().
  const std::shared_ptr<http::TlsContext>& context() const { return context_; }
  // The content in use.
  const ServerPem& pem() const { return pem_; }
  // Called by check() with the new content.
  std::function<void(const ServerPem&)> on_change;

  // Reads the files and takes new content.
  void check();

 private:
  CertificateFiles(const Clock& clock, http::PemNames names)
      : clock_(clock), names_(std::move(names)) {}
  Result<ServerPem> read() const;
  Result<void> take(const ServerPem& found);
  void refuse(const ServerPem& found, const Error& error);

  const Clock& clock_;
  http::PemNames names_;
  ServerPem pem_;
  std::shared_ptr<http::TlsContext> context_;
  Refusals<ServerPem> refusals_;
};

}  // namespace chipweave::tls
