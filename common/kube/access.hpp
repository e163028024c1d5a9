// ApiAccess — address and credentials of an API server, read from a kubeconfig or from a pod's
// service account.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/http/origin.hpp"
#include "common/tls/client_files.hpp"

namespace chipweave::kube {

struct ApiAccess {
  http::Origin origin;
  std::string prefix;      // path before "/api"; usually empty
  std::string token;       // bearer token; empty: none, or in token_file
  std::string token_file;  // read repeatedly: tokens expire
  tls::ClientFiles files;  // of origin.pem, read repeatedly; empty names: given inline, or none
  std::string ns;          // namespace of the pod or context; may be empty
};

struct AccessOptions {
  std::string kubeconfig;  // path; empty: the pod's own service account
  std::string context;     // a context of the kubeconfig; empty: its current one
};

// Environment variables; a test passes its own.
using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

// Errors name the file and entry. In a pod: KUBERNETES_SERVICE_HOST and _PORT, and the files of
// `service_account` (token, ca.crt, namespace).
Result<ApiAccess> load_access(
    const AccessOptions& options, const Environment& environment,
    const std::string& service_account = "/var/run/secrets/kubernetes.io/serviceaccount");

}  // namespace chipweave::kube
