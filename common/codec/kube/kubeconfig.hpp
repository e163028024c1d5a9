// KubeAccess — address and credentials of a Kubernetes API server, as in a kubeconfig.
//
// The subset that servers and test beds use: server, CA, client certificate, token. Anything
// unsupported (exec plugins, auth providers, passwords, impersonation, proxies) is an error that
// names it; nothing is ignored silently.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace chipweave::codec {

// PEM text, or the file that holds it; both empty: none.
struct PemSource {
  std::string pem;
  std::string file;
  bool given() const { return !pem.empty() || !file.empty(); }
};

struct KubeAccess {
  std::string server;           // "https://10.0.0.1:6443", optionally with a path; no trailing '/'
  std::string tls_server_name;  // what the certificate must name; empty: the host of `server`
  PemSource ca;                 // not given: the system's trust store
  bool insecure = false;        // insecure-skip-tls-verify: any certificate will do
  PemSource client_certificate;
  PemSource client_key;
  std::string token;
  std::string token_file;  // read repeatedly: tokens expire
  std::string ns;          // the context's namespace
};

// context: empty: current-context. File names are as written; relative ones refer to the folder of
// the kubeconfig. Errors name what is missing or wrong, with the entry's name.
Result<KubeAccess> read_kubeconfig(std::string_view yaml, std::string_view context = {});

}  // namespace chipweave::codec
