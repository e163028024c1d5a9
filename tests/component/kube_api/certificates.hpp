// Certificates for tests: an authority, and what it signs for a name or address.
#pragma once

#include <string>

namespace chipweave::testing {

struct Pem {
  std::string certificate;
  std::string key;
};

Pem make_authority(const std::string& name);
// subject_alternative: "IP:127.0.0.1,DNS:localhost"
Pem make_certificate(const Pem& authority, const std::string& subject_alternative);

}  // namespace chipweave::testing
