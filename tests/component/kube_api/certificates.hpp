// Certificates for tests: an authority, and certificates that it signs for a name or address.
#pragma once

#include <string>

namespace chipweave::test {

struct Pem {
  std::string certificate;
  std::string key;
};

Pem make_authority(const std::string& name);
// subject_alternative: "IP:127.0.0.1,DNS:localhost"; seconds: validity from now; negative: already
// expired.
Pem make_certificate(const Pem& authority, const std::string& subject_alternative,
                     long seconds = 3600);

}  // namespace chipweave::test
