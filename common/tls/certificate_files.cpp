#include "common/tls/certificate_files.hpp"

#include <utility>

#include "common/io/files.hpp"
#include "common/obs/log.hpp"
#include "common/tls/client_files.hpp"

namespace chipweave::tls {
namespace {

void log_validity(const char* message, const http::TlsContext& context,
                  const http::PemNames& names) {
  obs::log(obs::Level::info, message,
           {{"certificate", names.certificate}, {"valid_until", rfc3339(context.not_after())}});
}

}  // namespace

Result<std::unique_ptr<CertificateFiles>> CertificateFiles::open(const Clock& clock,
                                                                 http::PemNames names) {
  std::unique_ptr<CertificateFiles> files(new CertificateFiles(clock, std::move(names)));
  auto found = files->read();
  if (!found) return std::move(found).error();
  auto context = http::TlsContext::make(*found, files->names_);
  if (!context) return std::move(context).error();
  files->pem_ = std::move(*found);
  files->context_ = std::move(*context);
  log_validity("certificate loaded", *files->context_, files->names_);
  if (files->context_->not_after() <= clock.wall()) {
    obs::log(obs::Level::error, "the certificate has expired: clients will refuse it",
             {{"certificate", files->names_.certificate}});
  }
  return files;
}

Result<ServerPem> CertificateFiles::read() const {
  ServerPem out;
  for (const auto& [file, text] : {std::pair{&names_.certificate, &out.certificate},
                                   {&names_.key, &out.key},
                                   {&names_.client_ca, &out.client_ca}}) {
    if (file == &names_.client_ca && file->empty()) return out;
    auto content = io::read_file(*file, kMaxPemBytes);
    if (!content) return std::move(content).error();
    *text = std::move(*content);
  }
  if (out.client_ca.empty()) {  // else every client would be trusted
    return make_error(Errc::invalid_argument, names_.client_ca + " is empty");
  }
  return out;
}

Result<void> CertificateFiles::take(const ServerPem& found) {
  const auto next = http::TlsContext::make(found, names_);
  if (!next) return Error(next.error());
  if ((*next)->not_after() <= clock_.wall() && context_->not_after() > clock_.wall()) {
    return make_error(Errc::invalid_argument,
                      names_.certificate + " has expired at " + rfc3339((*next)->not_after()));
  }
  context_->replace(**next);
  pem_ = found;
  return {};
}

void CertificateFiles::check() {
  const auto found = read();
  if (!found) return refuse({}, found.error());
  const bool changed = *found != pem_;
  if (changed) {
    if (const auto taken = take(*found); !taken) return refuse(*found, taken.error());
  }
  refusals_.clear();
  if (!changed) return;
  log_validity("certificate changed", *context_, names_);
  if (on_change) on_change(pem_);
}

void CertificateFiles::refuse(const ServerPem& found, const Error& error) {
  if (!refusals_.add(found, error.text())) return;
  obs::log(obs::Level::error, "cannot use the certificate on disk; keeping the previous one",
           {{"reason", error.text()}});
}

}  // namespace chipweave::tls
