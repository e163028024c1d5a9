// Reads the TLS credentials of a client from files.
#pragma once

#include <cstddef>
#include <string>

#include "common/base/result.hpp"
#include "common/base/tls_pem.hpp"

namespace chipweave::tls {

// Per file; the CA bundle of a whole system is a quarter of this.
inline constexpr std::size_t kMaxPemBytes = std::size_t{1} << 20U;

struct ClientFiles {
  std::string ca;           // empty: the system's trust store
  std::string certificate;  // empty: none
  std::string key;
};

// Reads and checks the files; errors name the file: those of io::read_file, and invalid_argument.
Result<ClientPem> read_client_files(const ClientFiles& files, std::string server_name = {});

}  // namespace chipweave::tls
