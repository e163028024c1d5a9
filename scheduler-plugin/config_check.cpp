// Refuses settings that contradict each other, and those that would admit unlisted callers.
#include "common/kube/leader_elector.hpp"
#include "scheduler-plugin/config.hpp"
#include "scheduler-plugin/network_settings.hpp"
#include "scheduler-plugin/rank_table_settings.hpp"

namespace chipweave::sched {
namespace {

constexpr std::chrono::seconds kLeastStaleAfter{15};

Error contradiction(std::string message) {
  return make_error(Errc::invalid_argument, std::move(message));
}

Result<void> check_callers(const Config& config) {
  if (!config.client_names.empty() && config.tls_client_ca.empty())
    return contradiction("--client-names requires --tls-client-ca");
  if (!config.tls_client_ca.empty() && config.client_names.empty() && !config.http.is_loopback()) {
    return contradiction(
        "--tls-client-ca requires --client-names on " + config.http.text() +
        ", the names of the callers that may decide: every certificate of this CA could "
        "bind pods otherwise");
  }
  if (!config.caller_secrets.empty() && config.tls_cert.empty() && !config.http.is_loopback()) {
    return contradiction("--caller-secrets requires --tls-cert and --tls-key: " +
                         config.http.text() + " would receive secrets in clear text");
  }
  return {};
}

// Tokens and names need something that checks them.
Result<void> check_grpc_lists(const Config& config) {
  const bool token = config.grpc_auth == "token";
  if (!token && !config.grpc_users.empty())
    return contradiction("--grpc-users requires --grpc-auth token");
  if (!token && !config.grpc_reader_users.empty())
    return contradiction("--grpc-reader-users requires --grpc-auth token");
  if (config.tls_client_ca.empty()) {
    if (config.grpc_auth == "mtls")
      return contradiction(
          "--grpc-auth=mtls requires --tls-client-ca, the CA of the callers' certificates");
    if (!config.grpc_client_names.empty())
      return contradiction("--grpc-client-names requires --tls-client-ca");
    if (!config.grpc_reader_names.empty())
      return contradiction("--grpc-reader-names requires --tls-client-ca");
  }
  if (config.standalone && token) {
    return contradiction(
        "--grpc-auth=token cannot be combined with --standalone: only an API server can check "
        "tokens");
  }
  return {};
}

// On a standalone scheduler's loopback everyone may call; elsewhere callers must be listed.
Result<void> check_grpc_auth(const Config& config) {
  if (auto ok = check_grpc_lists(config); !ok) return ok;
  const auto address = config.grpc_address();
  if (!address) {
    if (config.grpc_auth == "none") return {};
    return contradiction("--grpc-auth requires --grpc HOST:PORT: gRPC is off");
  }
  const std::string where = "--grpc " + address->text();
  if (config.grpc_auth == "token") {
    if (address->is_loopback() || !config.tls_cert.empty()) return {};
    return contradiction("--grpc-auth=token requires --tls-cert and --tls-key: " + address->text() +
                         " would send tokens in clear text");
  }
  if (config.standalone && address->is_loopback()) return {};
  if (config.tls_client_ca.empty()) {
    return contradiction(
        where +
        " requires --tls-client-ca or --grpc-auth token: anyone who reaches it could "
        "reserve chips");
  }
  if (config.grpc_client_names.empty() && config.grpc_reader_names.empty()) {
    return contradiction(
        where +
        " requires --grpc-client-names or --grpc-reader-names: every certificate of "
        "--tls-client-ca could reserve chips");
  }
  return {};
}

Result<void> check_election(const Config& config) {
  if (!config.leader_elect) {
    if (!config.leader_identity.empty())
      return contradiction("--leader-identity requires --leader-elect");
    if (!config.pod_name.empty()) return contradiction("--pod-name requires --leader-elect");
    return {};
  }
  if (config.standalone)
    return contradiction("--standalone cannot be combined with --leader-elect");
  if (config.lease_duration > kube::LeaderElector::kMaxLease)
    return contradiction("--lease-duration: must be at most 10m: a failover can take that long");
  if (config.lease_duration <= config.renew_deadline) {
    return contradiction(
        "--lease-duration: must be longer than --renew-deadline, by as long as a request may take "
        "to reach the API server");
  }
  if (config.renew_deadline * 10 <= config.retry_period * 12)
    return contradiction("--renew-deadline: must be longer than 1.2 times --retry-period");
  return {};
}

}  // namespace

Result<void> check_config(const Config& config) {
  if (auto ok = check_election(config); !ok) return ok;
  if (!config.standalone && config.inventory_stale_after < kLeastStaleAfter) {
    return contradiction(
        "--inventory-stale-after: must be at least 15s: agents renew their Lease every 10s");
  }
  if (config.standalone && !config.kubeconfig.empty()) {
    return contradiction("--standalone cannot be combined with --kubeconfig");
  }
  if (config.standalone && config.publish_cluster_info) {
    return contradiction("--publish-cluster-info cannot be combined with --standalone");
  }
  if (config.standalone && !config.gang_kinds.empty())
    return contradiction("--gang-kinds cannot be combined with --standalone");
  if (config.standalone && config.gang_preemption)
    return contradiction("--gang-preemption cannot be combined with --standalone");
  if (config.standalone && config.fault_scheduling)
    return contradiction("--fault-scheduling cannot be combined with --standalone");
  if (config.standalone && config.gang_hostfiles)
    return contradiction("--gang-hostfiles cannot be combined with --standalone");
  if (config.standalone && !config.dlrover_topology.empty())
    return contradiction("--dlrover-topology cannot be combined with --standalone");
  if (auto ok = check_rank_tables(config); !ok) return ok;
  if (auto ok = check_network(config); !ok) return ok;
  const auto grpc = config.grpc_address();
  if (grpc && config.http.port != 0 && config.http.port == grpc->port &&
      config.http.host == grpc->host) {
    return contradiction("--http: must be another address than --grpc, got " + config.http.text());
  }
  if (config.tls_cert.empty() != config.tls_key.empty())
    return contradiction(config.tls_key.empty() ? "--tls-cert requires --tls-key"
                                                : "--tls-key requires --tls-cert");
  if (!config.tls_client_ca.empty() && config.tls_cert.empty())
    return contradiction("--tls-client-ca requires --tls-cert and --tls-key");
  if (auto ok = check_callers(config); !ok) return ok;
  return check_grpc_auth(config);
}

}  // namespace chipweave::sched
