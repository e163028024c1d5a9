// ReportingOptions — where this agent reports its node, and what it publishes there, as the options
// say.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "common/base/endpoint.hpp"
#include "common/base/result.hpp"
#include "common/domain/enforcement.hpp"

#include "node-agent/dra/dra_options.hpp"
#include "node-agent/ranktables/rank_table_options.hpp"

namespace chipweave::agent {

struct ReportingOptions {
  std::string node;                   // a DNS subdomain, checked before
  std::optional<Endpoint> scheduler;  // absent: reports go to the API server
  std::string kubeconfig;             // for that; empty: this is a pod
  std::string lease_namespace;        // empty: that of the pod or kubeconfig
  std::string tls_ca;                 // file; empty: no TLS to the scheduler
  std::string tls_cert;               // file of the client certificate; empty: none
  std::string tls_key;                // file
  std::string tls_server_name;        // empty: the host of `scheduler`
  std::set<std::string> publish;      // mindcluster, ack, labels, gfd-labels, metax-labels
  std::string nfd_file;               // empty: none
  // Who hands the chosen chips over to containers on this node.
  domain::Enforcement enforcement = domain::Enforcement::none;
  // Of the device plugin, if that enforces; the file of list_lock.hpp beside it counts in any case.
  std::string gate_file = "/run/chipweave/device-plugin";
  std::string pod_resources;           // socket of the kubelet, checked before; empty: not asked
  std::optional<dra::DraOptions> dra;  // absent: no DRA driver; node and seed: ignored
  RankTableOptions rank_tables;
};

// Whether leases of agents may be in the namespace. invalid_argument: not a valid name, or the
// namespace of the kubelets' leases, which are named after their nodes, too.
Result<void> check_lease_namespace(const std::string& ns);

}  // namespace chipweave::agent
