#include "common/tls/client_credentials.hpp"

#include <utility>

#include "common/io/files.hpp"
#include "common/obs/log.hpp"

namespace chipweave::tls {

Result<ClientPem> ClientCredentials::read() const {
  ClientPem out = pem_;
  for (const auto& [file, text] : {std::pair{&files_.ca, &out.ca},
                                   {&files_.certificate, &out.certificate},
                                   {&files_.key, &out.key}}) {
    if (file->empty()) continue;
    auto content = io::read_file(*file, kMaxPemBytes);
    if (!content) return std::move(content).error();
    // Empty: without a CA the system's would be trusted, and no certificate would be shown.
    if (content->empty()) return make_error(Errc::invalid_argument, "file " + *file + " is empty");
    *text = std::move(*content);
  }
  return out;
}

void ClientCredentials::check(const std::function<Result<void>(const ClientPem&)>& use) {
  auto found = read();
  if (found && *found == pem_) return refusals_.clear();
  const Result<void> used = found ? use(*found) : Result<void>(found.error());
  if (!used) {
    if (refusals_.add(found ? *found : ClientPem(), used.error().text())) {
      obs::log(obs::Level::warn, "cannot use the TLS files on disk; keeping the previous ones",
               {{"of", what_}, {"reason", used.error().text()}});
    }
    return;
  }
  refusals_.clear();
  pem_ = std::move(*found);
  obs::log(obs::Level::info, "TLS files changed", {{"of", what_}});
}

}  // namespace chipweave::tls
