#include "scheduler-plugin/config.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "common/base/dns_name.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/codec/config/flat_yaml.hpp"
#include "scheduler-plugin/gang_settings.hpp"
#include "scheduler-plugin/network_settings.hpp"
#include "scheduler-plugin/rank_table_settings.hpp"
#include "scheduler-plugin/setting_values.hpp"

namespace chipweave::sched {
namespace {

using Values = std::vector<std::string>;

constexpr std::size_t kMaxIdentity = 512;  // bytes of a user's or group's name
constexpr std::size_t kMaxReplicaName = 200;

Error invalid(std::string message) {
  return make_error(Errc::invalid_argument, std::move(message));
}

bool read_number(std::string_view text, std::uint64_t& to) {
  const auto end = std::from_chars(text.data(), text.data() + text.size(), to);
  return end.ec == std::errc() && end.ptr == text.data() + text.size();
}

Result<void> set_endpoint(Endpoint& to, const std::string& text) {
  auto endpoint = parse_endpoint(text, PortZero::allowed);
  if (!endpoint) return std::move(endpoint).error();
  to = std::move(*endpoint);
  return {};
}

Result<void> set_text(std::string& to, const std::string& text) {
  to = text;
  return {};
}

Result<void> set_names(std::vector<std::string>& to, const Values& names) {
  for (const std::string& name : names) {
    if (name.find('/') == std::string::npos || name.size() > limits::kMaxNameBytes) {
      return invalid("expected an extended resource name such as nvidia.com/gpu, got " +
                     in_quotes(name));
    }
  }
  to = names;
  return {};
}

Result<void> set_volcano_weight(Config& c, const Values& v) {
  std::uint64_t n = 0;
  if (!read_number(v[0], n) || n > 1000)
    return invalid("must be a number from 0 to 1000, got " + in_quotes(v[0]));
  c.volcano_weight = static_cast<int>(n);
  return {};
}

constexpr int kMaxTolerance = 99;  // percent

Result<void> set_tolerance(Config& c, const Values& v) {
  std::string_view text = v[0];
  const bool in_percent = text.ends_with('%');
  if (in_percent) text.remove_suffix(1);
  const auto percent = parse_number<double>(text);
  if (!in_percent || !percent || !(*percent >= 0 && *percent <= kMaxTolerance)) {
    return invalid("expected a share from 0% to " + std::to_string(kMaxTolerance) + "%, got " +
                   in_quotes(v[0]));
  }
  c.node_preference.tolerance = *percent / 100;
  return {};
}

Result<void> set_useful_gbps(Config& c, const Values& v) {
  const auto gbps = parse_number<double>(v[0]);
  if (!gbps || !(*gbps >= 0 && *gbps <= limits::kMaxGbps))
    return invalid("expected a number of GB/s, 0 for no limit, got " + in_quotes(v[0]));
  c.node_preference.useful_gbps_per_peer = *gbps;
  return {};
}

// With as few digits as read back equal.
std::string show_number(double number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end.ptr};
}

Result<void> set_object_name(std::string& to, const std::string& text, const char* what) {
  if (!is_dns_subdomain(text))
    return invalid(std::string("expected the name of a ") + what + ", got " + in_quotes(text));
  to = text;
  return {};
}

Result<void> set_identity(Config& c, const Values& v) {
  const bool fine =
      std::all_of(v[0].begin(), v[0].end(), [](char ch) { return ch > ' ' && ch < 0x7f; });
  if (!fine || v[0].size() > kMaxReplicaName)
    return invalid("must be a name without spaces, at most " + std::to_string(kMaxReplicaName) +
                   " bytes");
  c.leader_identity = v[0];
  return {};
}

Result<void> set_namespace(Config& c, const Values& v) {
  if (!v[0].empty() && !is_dns_label(v[0]))
    return invalid("expected the name of a namespace, got " + in_quotes(v[0]));
  c.lease_namespace = v[0];
  return {};
}

Result<void> set_log_level(Config& c, const Values& v) {
  if (v[0] != "debug" && v[0] != "info" && v[0] != "warn" && v[0] != "error") {
    return invalid(unknown_name("level", v[0], {"debug", "info", "warn", "error"}));
  }
  c.log_level = v[0];
  return {};
}

Result<void> set_grpc_auth(Config& c, const Values& v) {
  if (v[0] != "none" && v[0] != "mtls" && v[0] != "token")
    return invalid(unknown_name("method", v[0], {"none", "mtls", "token"}));
  c.grpc_auth = v[0];
  return {};
}

// Users, groups and audiences can have almost any name, depending on the cluster's authenticators.
Result<void> check_identity(const std::string& name) {
  const bool control = std::any_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  if (!name.empty() && name != "group:" && name.size() <= kMaxIdentity && !control) return {};
  return invalid("expected a user, group:GROUP or audience, got " + in_quotes(name));
}

Result<void> set_users(std::vector<std::string>& to, const Values& v) {
  for (const std::string& name : v) {
    if (auto ok = check_identity(name); !ok) return ok;
  }
  to = v;
  return {};
}

Result<void> set_grpc(Config& c, const Values& v) {
  c.grpc_set = true;
  if (v[0] == "off") {
    c.grpc.reset();
    return {};
  }
  return set_endpoint(c.grpc.emplace(), v[0]);
}

std::string show_grpc(const Config& c) {
  const auto address = c.grpc_address();
  return address ? address->text() : "off";
}

Result<void> set_grpc_audience(Config& c, const Values& v) {
  if (auto ok = check_identity(v[0]); !ok) return ok;
  c.grpc_audience = v[0];
  return {};
}

Result<void> set_certificate_names(std::vector<std::string>& to, const Values& v) {
  for (const std::string& name : v) {
    const bool plain =
        std::all_of(name.begin(), name.end(), [](char ch) { return ch > ' ' && ch < 0x7f; });
    if (name.empty() || name.size() > kMaxIdentity || !plain) {
      return invalid("expected a DNS name, URI or common name of a certificate, got " +
                     in_quotes(name));
    }
  }
  to = v;
  return {};
}

Result<void> set_scheduler_names(Config& c, const Values& v) {
  std::string checked;
  for (const std::string& name : v) {
    if (auto ok = set_object_name(checked, name, "scheduler"); !ok) return ok;
  }
  c.scheduler_names = v;
  return {};
}

Result<void> set_max_connections(Config& c, const Values& v) {
  std::uint64_t n = 0;
  if (!read_number(v[0], n) || n < 1 || n > 65536)
    return invalid("must be a number from 1 to 65536, got " + in_quotes(v[0]));
  c.max_connections = static_cast<std::size_t>(n);
  return {};
}

std::vector<Setting> general_settings() {
  return {
      {"standalone", "run without Kubernetes: keep pods and bindings in memory", false,
       [](Config& c, const Values& v) { return set_flag(c.standalone, v[0]); },
       [](const Config& c) { return Values{c.standalone ? "true" : "false"}; }, true},
      {"kubeconfig", "kubeconfig file; default: in-cluster configuration", false,
       [](Config& c, const Values& v) { return set_text(c.kubeconfig, v[0]); },
       [](const Config& c) { return Values{c.kubeconfig}; }},
      {"namespace",
       "namespace of the agents' and replicas' Leases; default: the namespace of the "
       "credentials",
       false, set_namespace, [](const Config& c) { return Values{c.lease_namespace}; }},
      {"http", "address of the HTTP server; port 0 takes any free port", false,
       [](Config& c, const Values& v) { return set_endpoint(c.http, v[0]); },
       [](const Config& c) { return Values{c.http.text()}; }},
      {"grpc",
       "address of the gRPC server for agents and other schedulers, or off; default: off in a "
       "cluster, 127.0.0.1:8081 with --standalone",
       false, set_grpc, [](const Config& c) { return Values{show_grpc(c)}; }},
      {"tls-cert", "certificate chain (PEM) of both servers; reloaded when the file changes", false,
       [](Config& c, const Values& v) { return set_text(c.tls_cert, v[0]); },
       [](const Config& c) { return Values{c.tls_cert}; }},
      {"tls-key", "private key of the certificate (PEM)", false,
       [](Config& c, const Values& v) { return set_text(c.tls_key, v[0]); },
       [](const Config& c) { return Values{c.tls_key}; }},
      {"tls-client-ca",
       "CA of client certificates (PEM); default: client certificates are not required", false,
       [](Config& c, const Values& v) { return set_text(c.tls_client_ca, v[0]); },
       [](const Config& c) { return Values{c.tls_client_ca}; }},
      {"client-names",
       "callers among the certificates of tls-client-ca, by DNS name, URI or common name; required "
       "unless http is on loopback",
       true, [](Config& c, const Values& v) { return set_certificate_names(c.client_names, v); },
       [](const Config& c) { return c.client_names; }},
      {"caller-secrets",
       "folder with a secret per file, for callers without a certificate; reloaded when it changes",
       false, [](Config& c, const Values& v) { return set_text(c.caller_secrets, v[0]); },
       [](const Config& c) { return Values{c.caller_secrets}; }},
      {"read-from-loopback",
       "callers from 127.0.0.1 and ::1 may read without credentials (kubectl port-forward)", false,
       [](Config& c, const Values& v) { return set_flag(c.read_from_loopback, v[0]); },
       [](const Config& c) { return Values{c.read_from_loopback ? "true" : "false"}; }, true},
      {"scheduler-names",
       "pods that may be bound by request, by spec.schedulerName; default: a caller may bind pods "
       "of "
       "the schedulers whose pods it asks about",
       true, set_scheduler_names, [](const Config& c) { return c.scheduler_names; }},
      {"grpc-auth",
       "authentication of gRPC callers: none (apart from tls-client-ca), mtls, or token "
       "(checked by the API server)",
       false, set_grpc_auth, [](const Config& c) { return Values{c.grpc_auth}; }},
      {"grpc-client-names",
       "certificates that may reserve and release chips over gRPC, by DNS name, URI or common name",
       true,
       [](Config& c, const Values& v) { return set_certificate_names(c.grpc_client_names, v); },
       [](const Config& c) { return c.grpc_client_names; }},
      {"grpc-reader-names", "certificates that may only read over gRPC, likewise", true,
       [](Config& c, const Values& v) { return set_certificate_names(c.grpc_reader_names, v); },
       [](const Config& c) { return c.grpc_reader_names; }},
      {"grpc-users",
       "users whose tokens may reserve and release chips: user names, and groups as group:NAME",
       true, [](Config& c, const Values& v) { return set_users(c.grpc_users, v); },
       [](const Config& c) { return c.grpc_users; }},
      {"grpc-reader-users", "users whose tokens may only read, likewise", true,
       [](Config& c, const Values& v) { return set_users(c.grpc_reader_users, v); },
       [](const Config& c) { return c.grpc_reader_users; }},
      {"grpc-audience", "required audience of callers' tokens", false, set_grpc_audience,
       [](const Config& c) { return Values{c.grpc_audience}; }},
      {"leader-elect",
       "elect a leader among several replicas; only the holder of the Lease decides", false,
       [](Config& c, const Values& v) { return set_flag(c.leader_elect, v[0]); },
       [](const Config& c) { return Values{c.leader_elect ? "true" : "false"}; }, true},
      {"leader-identity", "name of this replica in the Lease; default: the host name", false,
       set_identity, [](const Config& c) { return Values{c.leader_identity}; }},
      {"lease-name",
       "name of the Lease; the same for all replicas, different from other schedulers", false,
       [](Config& c, const Values& v) { return set_object_name(c.lease_name, v[0], "Lease"); },
       [](const Config& c) { return Values{c.lease_name}; }},
      {"lease-duration", "time without renewal after which another replica may take the Lease",
       false, [](Config& c, const Values& v) { return set_duration(c.lease_duration, v[0]); },
       [](const Config& c) { return Values{show_duration(c.lease_duration)}; }},
      {"renew-deadline", "time without renewal after which the leader stops deciding", false,
       [](Config& c, const Values& v) { return set_duration(c.renew_deadline, v[0]); },
       [](const Config& c) { return Values{show_duration(c.renew_deadline)}; }},
      {"retry-period", "interval at which the leader renews the Lease and standbys check it", false,
       [](Config& c, const Values& v) { return set_duration(c.retry_period, v[0]); },
       [](const Config& c) { return Values{show_duration(c.retry_period)}; }},
      {"pod-name", "pod of this replica; carries the label chipweave.dev/leader while it leads",
       false,
       [](Config& c, const Values& v) {
         return v[0].empty() ? set_text(c.pod_name, v[0])
                             : set_object_name(c.pod_name, v[0], "pod");
       },
       [](const Config& c) { return Values{c.pod_name}; }},
      {"port-file", "write the ports in use to this file as JSON when ready", false,
       [](Config& c, const Values& v) { return set_text(c.port_file, v[0]); },
       [](const Config& c) { return Values{c.port_file}; }},
      {"crash-file",
       "keep here how often and why the process ended because of a bug, for the metric "
       "chipweave_crashes_total",
       false, [](Config& c, const Values& v) { return set_text(c.crash_file, v[0]); },
       [](const Config& c) { return Values{c.crash_file}; }},
      {"profile-overlays",
       "measured constants of machine models: a file of `chipweave calibrate`, or a folder of such "
       "files",
       false, [](Config& c, const Values& v) { return set_text(c.profile_overlays, v[0]); },
       [](const Config& c) { return Values{c.profile_overlays}; }},
      {"log-level", "debug, info, warn or error", false, set_log_level,
       [](const Config& c) { return Values{c.log_level}; }},
      {"reservation-ttl", "how long chips stay reserved before bind", false,
       [](Config& c, const Values& v) { return set_duration(c.reservation_ttl, v[0]); },
       [](const Config& c) { return Values{show_duration(c.reservation_ttl)}; }},
      {"inventory-stale-after",
       "time without a heartbeat after which nothing new is placed on a node", false,
       [](Config& c, const Values& v) { return set_duration(c.inventory_stale_after, v[0]); },
       [](const Config& c) { return Values{show_duration(c.inventory_stale_after)}; }},
      {"max-connections", "maximum number of open HTTP connections", false, set_max_connections,
       [](const Config& c) { return Values{std::to_string(c.max_connections)}; }},
      {"volcano-weight", "weight of our scores in Volcano, relative to its own plugins", false,
       set_volcano_weight,
       [](const Config& c) { return Values{std::to_string(c.volcano_weight)}; }},
      {"bandwidth-tolerance",
       "bandwidths of nodes that differ by no more than this count as equal; what is left for "
       "other "
       "pods then decides",
       false, set_tolerance,
       [](const Config& c) {
         return Values{show_number(std::round(c.node_preference.tolerance * 1e8) / 1e6) + "%"};
       }},
      {"useful-gbps-per-peer",
       "a pod of n chips, below 8 and alone in its job, can use (n - 1) times this many GB/s "
       "unless "
       "it declares its need; 0: no limit",
       false, set_useful_gbps,
       [](const Config& c) { return Values{show_number(c.node_preference.useful_gbps_per_peer)}; }},
      {"annotate-after-bind",
       "choose chips for pods that another scheduler bound, and annotate the pods", false,
       [](Config& c, const Values& v) { return set_flag(c.annotate_after_bind, v[0]); },
       [](const Config& c) { return Values{show_flag(c.annotate_after_bind)}; }, true},
      {"publish-cluster-info",
       "while leading, maintain MindCluster's cluster-info ConfigMaps in mindx-dl in place of "
       "ClusterD",
       false, [](Config& c, const Values& v) { return set_flag(c.publish_cluster_info, v[0]); },
       [](const Config& c) { return Values{show_flag(c.publish_cluster_info)}; }, true},
      {"allocate-claims",
       "allocate the ResourceClaims of the DeviceClasses chipweave and chipweave-… that waiting "
       "pods name",
       false, [](Config& c, const Values& v) { return set_flag(c.allocate_claims, v[0]); },
       [](const Config& c) { return Values{show_flag(c.allocate_claims)}; }, true},
      {"allocate-untainted-devices",
       "with allocate-claims: give away devices without the taint chipweave.dev/managed, too, "
       "because a policy of the cluster bars all other classes of these devices",
       false,
       [](Config& c, const Values& v) { return set_flag(c.allocate_untainted_devices, v[0]); },
       [](const Config& c) { return Values{show_flag(c.allocate_untainted_devices)}; }, true},
      {"network-sources",
       "sources of the network that the nodes are in: labels, inventories, hypernodes, kueue, kai, "
       "koordinator; the more specific decides",
       true, set_network_sources, show_network_sources},
      {"network-levels",
       "node labels that are the levels of the network, coarsest first; default: those of the "
       "label "
       "family that most nodes have",
       true, set_network_levels, [](const Config& c) { return c.network_levels; }},
      {"network-config-map",
       "NAMESPACE/NAME of a ConfigMap with a description of the network; takes precedence over the "
       "other sources",
       false, set_network_config_map, show_network_config_map},
      {"network-file",
       "file with a description of the network; read again when it changes; takes precedence over "
       "the other sources",
       false, [](Config& c, const Values& v) { return set_text(c.network_file, v[0]); },
       [](const Config& c) { return Values{c.network_file}; }},
      {"accelerators", "resources counted in whole chips", true,
       [](Config& c, const Values& v) { return set_names(c.resources.accelerators, v); },
       [](const Config& c) { return c.resources.accelerators; }},
      {"shared-accelerators",
       "resources that are fractions of chips, refused; a trailing * matches any suffix", true,
       [](Config& c, const Values& v) { return set_names(c.resources.shared, v); },
       [](const Config& c) { return c.resources.shared; }},
  };
}

}  // namespace

const std::vector<Setting>& settings() {
  static const std::vector<Setting> table = [] {
    std::vector<Setting> all = general_settings();
    for (const std::vector<Setting>& more : {gang_settings(), rank_table_settings()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return table;
}

const Setting* find_setting(std::string_view name) {
  for (const Setting& s : settings()) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

namespace {

std::vector<std::string_view> setting_names() {
  std::vector<std::string_view> out;
  for (const Setting& setting : settings()) out.emplace_back(setting.name);
  return out;
}

}  // namespace

Result<void> apply_config_text(std::string_view text, Config& config) {
  auto entries = codec::read_flat_yaml(text);
  if (!entries) return std::move(entries).error();
  for (const codec::ConfigEntry& entry : *entries) {
    const std::string where = "line " + std::to_string(entry.line);
    const Setting* setting = find_setting(entry.key);
    if (setting == nullptr)
      return invalid(unknown_name("key", entry.key, setting_names())).in(where);
    if (setting->list != entry.list) {
      return invalid(setting->list ? "must be a list" : "must be a single value")
          .in(entry.key)
          .in(where);
    }
    if (auto set = setting->set(config, entry.values); !set)
      return std::move(set).error().in(entry.key).in(where);
  }
  return {};
}

std::string print_config(const Config& config) {
  std::string out;
  for (const Setting& setting : settings()) {
    out += std::string(setting.name) + ":";
    const Values values = setting.show(config);
    if (setting.list && values.empty()) out += " []";
    for (const std::string& value : values) {
      out += setting.list ? "\n- " : " ";
      append_json_string(out, value);  // a JSON string is a YAML string
    }
    out += '\n';
  }
  return out;
}

}  // namespace chipweave::sched
