// CertificateFiles — a server's certificate, key and client CA as files that others may replace any
// time: what is new and fits is taken, what does not fit is told once and the old one goes on.
//
// The files are read again at each look and compared by content: a Secret's volume swaps a symbolic
// link far above them, and times of change lie on some mounts. Owner: the loop thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/clock.hpp"
#include "common/base/result.hpp"
#include "common/base/tls_pem.hpp"
#include "common/http/tls_context.hpp"

namespace chipweave::tls {

// How often a program should look.
inline constexpr std::chrono::seconds kLookEvery{2};

class CertificateFiles {
 public:
  // Every name is a file; client_ca may be empty: clients are not asked for certificates.
  // Errors name the file: those of io::read_file, and invalid_argument.
  static Result<std::unique_ptr<CertificateFiles>> open(const Clock& clock, http::PemNames names);

  // For the HTTP server; follows the files.
  const std::shared_ptr<http::TlsContext>& context() const { return context_; }
  // What is in use.
  const ServerPem& pem() const { return pem_; }
  // Called within check() with what is taken.
  std::function<void(const ServerPem&)> on_change;

  // Looks at the files.
  void check();

 private:
  CertificateFiles(const Clock& clock, http::PemNames names)
      : clock_(clock), names_(std::move(names)) {}
  struct Refusal {
    ServerPem found;  // empty if it could not be read
    std::string why;
    bool told = false;
  };
  Result<ServerPem> read() const;
  Result<void> take(const ServerPem& found);
  void refuse(const ServerPem& found, const Error& error);

  const Clock& clock_;
  http::PemNames names_;
  ServerPem pem_;
  std::shared_ptr<http::TlsContext> context_;
  std::optional<Refusal> refused_;  // by the last look
};

}  // namespace chipweave::tls
