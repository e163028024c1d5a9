#include "node-agent/reporting/reporting_options.hpp"

#include "common/base/dns_name.hpp"

namespace chipweave::agent {

Result<void> check_lease_namespace(const std::string& ns) {
  if (!is_dns_label(ns)) {
    return make_error(
        Errc::invalid_argument,
        "must be the name of a namespace: lower-case letters, digits and '-', at most 63");
  }
  if (ns == "kube-node-lease") {
    return make_error(Errc::invalid_argument,
                      "must be a namespace other than kube-node-lease, where the kubelets keep "
                      "leases of the same names");
  }
  return {};
}

}  // namespace chipweave::agent
