// Flags and configuration file of chipweave-agent → checked options.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/endpoint.hpp"
#include "common/base/result.hpp"
#include "common/codec/agent/hardware_options.hpp"
#include "node-agent/reporting/reporting_options.hpp"

namespace chipweave::agent {

enum class ProbeKind { profile, file, hardware };

struct Flags {
  std::string node;
  ProbeKind probe = ProbeKind::hardware;
  std::string probe_name;              // for profile and file
  codec::HardwareOptions hardware;     // for hardware
  std::string probe_process;           // program; empty: chipweave-agent-probe next to this program
  std::string health_policy;           // file; empty: the built-in one
  std::string ascend_fault_codes;      // file; empty: none
  ReportingOptions reporting;          // its node is the one above
  std::string health_file;             // empty: none
  std::optional<Endpoint> metrics;     // absent: no HTTP
  std::string metrics_tls_cert;        // file; empty: no TLS
  std::string metrics_tls_key;         // file
  std::string port_file;               // empty: none
  std::vector<std::string> resources;  // empty: by vendor
  std::string log_level = "info";
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

}  // namespace chipweave::agent
