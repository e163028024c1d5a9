// CertificateNames — which callers of the gRPC side may do what, by the DNS names, URIs and common
// names of their certificates.
#pragma once

#include <string>
#include <vector>

namespace chipweave::sched {

// Both lists empty: the names are not checked.
struct CertificateNames {
  std::vector<std::string> clients{};  // may decide and read
  std::vector<std::string> readers{};  // may only read
};

}  // namespace chipweave::sched
