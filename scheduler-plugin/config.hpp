// Config — the settings of chipweave-scheduler. One table defines key, help, reading and printing
// of each; the file reader, the flags, --print-config and docs/reference/configuration.md follow
// it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/endpoint.hpp"
#include "common/base/limits.hpp"
#include "common/base/result.hpp"
#include "common/solver/nodes/node_score.hpp"
#include "scheduler-plugin/kube/gang_gate.hpp"
#include "scheduler-plugin/kube/network/network_watch.hpp"
#include "scheduler-plugin/kube/pod_request.hpp"
#include "scheduler-plugin/state/network/network.hpp"

namespace chipweave::sched {

struct Config {
  bool standalone = false;
  std::string kubeconfig;       // empty: the pod's own service account
  std::string lease_namespace;  // empty: the namespace of the credentials
  Endpoint http{"127.0.0.1", 8080};
  std::optional<Endpoint> grpc;  // empty: gRPC is off
  std::string tls_cert;          // empty: no TLS on either port
  std::string tls_key;
  std::string tls_client_ca;              // empty: no client certificates are requested
  std::vector<std::string> client_names;  // empty: every certificate of tls_client_ca
  std::string caller_secrets;             // folder; empty: no caller has a secret
  bool read_from_loopback = true;
  bool leader_elect = false;
  bool grpc_set = false;  // else gRPC is on 127.0.0.1:8081 in standalone mode, off in a cluster
  std::vector<std::string> scheduler_names;  // whose pods may be bound; empty: they are learned
  std::string grpc_auth = "none";            // in addition to tls_client_ca
  // Names of certificates; both empty: every certificate of tls_client_ca.
  std::vector<std::string> grpc_client_names;
  std::vector<std::string> grpc_reader_names;
  std::vector<std::string> grpc_users;
  std::vector<std::string> grpc_reader_users;
  std::string grpc_audience = "chipweave";
  std::string leader_identity;  // empty: the name of the host
  std::string lease_name = "chipweave-scheduler";
  std::chrono::milliseconds lease_duration{3'000};
  std::chrono::milliseconds renew_deadline{2'000};
  std::chrono::milliseconds retry_period{400};
  std::string pod_name;  // of this replica; empty: no label is written
  std::string port_file;
  std::string crash_file;        // empty: none
  std::string profile_overlays;  // a file or folder; empty: the built-in constants
  std::string log_level = "info";
  std::chrono::milliseconds reservation_ttl = limits::kReservationTtl;
  std::chrono::milliseconds inventory_stale_after = limits::kInventoryStaleAfter;
  std::size_t max_connections = limits::kMaxHttpConnections;
  int volcano_weight = 20;
  bool annotate_after_bind = false;
  bool plan_gangs = true;
  bool gang_plans = true;  // are stored, in a cluster
  bool nominate_gangs = true;
  std::chrono::milliseconds gate_timeout{0};                   // zero: never
  std::chrono::milliseconds keep_chips_after{10 * 60 * 1000};  // likewise
  std::vector<std::string> pinned_schedulers;
  bool gang_preemption = false;
  bool fault_scheduling = false;
  bool gang_hostfiles = false;
  int max_gang_spares = 0;
  std::vector<std::string> rank_tables;  // that are written: "jobs", "mindie"
  std::optional<Endpoint> clusterd;      // where MindIE subscribes; empty: not at all
  bool clusterd_tls = false;
  bool rank_table_pod_uids = false;  // are server_ids, not the addresses of hosts
  bool publish_cluster_info = false;
  std::vector<std::string> dlrover_topology;  // namespaces
  bool allocate_claims = false;
  bool allocate_untainted_devices = false;
  std::vector<std::string> gang_kinds;  // of codec::gang_settings()
  solver::NodePreference node_preference;
  ResourceTable resources;
  GateOptions gate;
  std::vector<NetworkSource> network_sources = Network::Options().sources;
  std::vector<std::string> network_levels;
  std::optional<ConfigMapName> network_config_map;
  std::string network_file;

  // With the file and the ConfigMap, if there are any.
  Network::Options network() const;
  // Where gRPC is served; empty: not at all.
  std::optional<Endpoint> grpc_address() const {
    return grpc_set || !standalone ? grpc : Endpoint{"127.0.0.1", 8081};
  }
};

struct Setting {
  std::string_view name;  // key in the file and flag without the dashes
  std::string_view help;
  bool list = false;
  Result<void> (*set)(Config&, const std::vector<std::string>&);
  std::vector<std::string> (*show)(const Config&);
  bool yes_or_no = false;  // the bare flag means true
};
const std::vector<Setting>& settings();
const Setting* find_setting(std::string_view name);

// Reads a settings file into `config`. Errors name the line and key; unknown keys are errors.
Result<void> apply_config_text(std::string_view text, Config& config);
// The effective settings as a settings file.
std::string print_config(const Config& config);
// Checks for contradictory settings. Errors: invalid_argument.
Result<void> check_config(const Config& config);

}  // namespace chipweave::sched
