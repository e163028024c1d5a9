#include "common/tls/client_files.hpp"

#include <utility>

#include "common/http/tls_context.hpp"
#include "common/io/files.hpp"

namespace chipweave::tls {

Result<ClientPem> read_client_files(const ClientFiles& files, std::string server_name) {
  ClientPem out;
  out.server_name = std::move(server_name);
  if (!files.ca.empty()) {
    auto ca = io::read_file(files.ca, kMaxPemBytes);
    if (!ca) return std::move(ca).error();
    out.ca = std::move(*ca);
    auto good = out.ca.empty() ? Result<void>(make_error(Errc::invalid_argument, "is empty"))
                               : http::check_client_pem(out);
    if (!good) return std::move(good).error().in("file " + files.ca);
  }
  if (files.certificate.empty()) return out;
  auto certificate = io::read_file(files.certificate, kMaxPemBytes);
  if (!certificate) return std::move(certificate).error();
  auto key = io::read_file(files.key, kMaxPemBytes);
  if (!key) return std::move(key).error();
  out.certificate = std::move(*certificate);
  out.key = std::move(*key);
  if (auto good = http::check_client_pem(out); !good)
    return std::move(good).error().in("files " + files.certificate + " and " + files.key);
  return out;
}

}  // namespace chipweave::tls
