// What a client needs for TLS, from files.
#pragma once

#include <cstddef>
#include <string>

#include "common/base/result.hpp"
#include "common/base/tls_pem.hpp"

namespace chipweave::tls {

// Of one file: a CA bundle of a whole system is a quarter of this.
inline constexpr std::size_t kMaxPemBytes = std::size_t{1} << 20U;

struct ClientFiles {
  std::string ca;           // empty: whom the system trusts
  std::string certificate;  // empty: none
  std::string key;
};

// Read and checked; errors name the file: those of io::read_file, and invalid_argument.
Result<ClientPem> read_client_files(const ClientFiles& files, std::string server_name = {});

}  // namespace chipweave::tls
