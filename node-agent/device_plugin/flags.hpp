// Flags and configuration file of chipweave-device-plugin → checked options.
#pragma once

#include <optional>
#include <string>

#include "common/base/endpoint.hpp"
#include "node-agent/device_plugin/plugin.hpp"

namespace chipweave::device_plugin {

struct Flags {
  PluginOptions plugin;
  bool in_pod = false;     // the API server of the cluster in which this is a pod
  std::string kubeconfig;  // its API server; both absent: no pods are followed
  bool ack_label = false;  // plugin.resource, or ACK's instead of it, by the node's label
  std::string machine;     // a profile or a topology file; empty: as the agent reports it
  std::string gate_file;   // empty: none
  std::optional<Endpoint> metrics;
  std::string metrics_tls_cert;  // file; empty: no TLS
  std::string metrics_tls_key;   // file
  std::string port_file;         // empty: none
  std::string kubelet_config;    // file; empty: not read
  std::string log_level = "info";

  bool cluster() const { return in_pod || !kubeconfig.empty(); }
};

// What main() does next: run, or exit with this status because nothing is left to do (--help, an
// error).
struct Parsed {
  std::optional<Flags> flags;
  int exit_code = 0;
};
// Prints help, version, effective configuration and errors itself. Status 2: a flag that makes no
// sense; 3: the configuration file cannot be read.
Parsed parse_flags(int argc, char** argv);

}  // namespace chipweave::device_plugin
