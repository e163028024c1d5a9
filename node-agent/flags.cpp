#include "node-agent/flags.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include <CLI/CLI.hpp>

#include "common/base/dns_name.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/codec/config/flat_yaml.hpp"
#include "common/flags/usage_error.hpp"
#include "common/io/files.hpp"
#include "node-agent/flag_list.hpp"
#include "node-agent/sources/health_policy_files.hpp"

namespace chipweave::agent {
namespace {

constexpr const char* kFooter =
    "Example:\n"
    "  chipweave-agent --node n1 --probe profile:hgx-v100-8 --scheduler 127.0.0.1:9200 --metrics "
    "127.0.0.1:9201\n"
    "  chipweave-agent --node gpu-1 --kubeconfig ~/.kube/config --health-file health.json\n"
    "Exit status: 0 ended by SIGTERM, 1 an address is in use or another agent watches this "
    "machine, "
    "2 wrong usage, 3 an unusable file.";

using Texts = std::map<std::string, std::string>;

// A value that cannot be used: "--flag: expected …".
Error wrong(const std::string& flag, const std::string& why) {
  return make_error(Errc::invalid_argument, "--" + flag + ": " + why);
}

// A flag that is missing, or given with or without another one: "--flag requires …".
Error misused(const std::string& flag, const std::string& why) {
  return make_error(Errc::invalid_argument, "--" + flag + " " + why);
}

bool plain(const std::string& text, const char* also) {
  return !text.empty() && text.size() <= limits::kMaxNameBytes &&
         std::all_of(text.begin(), text.end(), [also](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view(also).find(c) != std::string_view::npos;
         });
}

Result<void> take_probe(const std::string& text, Flags& out) {
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  if (kind == "profile" || kind == "file") {
    if (colon == std::string::npos || colon + 1 == text.size())
      return wrong("probe", "expected " + kind + ":NAME, got " + in_quotes(text));
    out.probe = kind == "profile" ? ProbeKind::profile : ProbeKind::file;
    out.probe_name = text.substr(colon + 1);
    return {};
  }
  if (text.empty()) return {};
  if (!codec::set_option(out.hardware, "vendor", text).empty()) {
    return wrong("probe",
                 "unknown probe " + in_quotes(text) +
                     "; known: profile:NAME, file:PATH, auto, nvidia, amd, ascend, metax, pci");
  }
  return {};
}

Result<void> take_hardware(Texts& given, Flags& out) {
  for (const std::string& name : codec::hardware_option_names()) {
    const auto value = given.find(name);  // the vendor has no flag of its own: --probe sets it
    if (value == given.end() || value->second.empty()) continue;
    if (out.probe != ProbeKind::hardware)
      return misused(name, "cannot be combined with --probe profile:NAME or file:PATH");
    const std::string problem = codec::set_option(out.hardware, name, value->second);
    if (!problem.empty()) return wrong(name, problem + ", got " + in_quotes(value->second));
  }
  out.probe_process = given["probe-process"];
  out.health_policy = given["health-policy"];
  out.ascend_fault_codes = given["ascend-fault-codes"];
  return {};
}

// Exactly one place to report to.
Result<void> take_destination(Texts& given, Flags& out) {
  const std::string& in_pod = given["kubernetes"];
  if (!in_pod.empty() && in_pod != "true" && in_pod != "false")
    return wrong("kubernetes", "expected true or false, got " + in_quotes(in_pod));
  out.reporting.kubeconfig = given["kubeconfig"];
  out.reporting.lease_namespace = given["lease-namespace"];
  if (in_pod == "true" && !out.reporting.kubeconfig.empty())
    return misused("kubernetes", "cannot be combined with --kubeconfig");
  const bool cluster = in_pod == "true" || !out.reporting.kubeconfig.empty();
  if (given["scheduler"].empty() && !cluster) {
    return misused(
        "scheduler",
        "is required: HOST:PORT of the scheduler's gRPC server (in a cluster: --kubernetes "
        "or --kubeconfig)");
  }
  if (!given["scheduler"].empty() && cluster) {
    return misused(
        "scheduler",
        "cannot be combined with --kubernetes or --kubeconfig: in a cluster the scheduler "
        "reads from the API server");
  }
  if (!cluster) {
    if (!out.reporting.lease_namespace.empty())
      return misused("lease-namespace", "requires --kubernetes or --kubeconfig");
    auto scheduler = parse_endpoint(given["scheduler"], PortZero::refused);
    if (!scheduler) return std::move(scheduler).error().in("--scheduler");
    out.reporting.scheduler = std::move(scheduler).value();
    return {};
  }
  if (!is_dns_subdomain(out.node)) {
    return wrong("node",
                 "expected the name of a Node (lower-case letters, digits, '-' and '.'), got " +
                     in_quotes(out.node));
  }
  if (!out.reporting.lease_namespace.empty()) {
    if (const auto ok = check_lease_namespace(out.reporting.lease_namespace); !ok)
      return wrong("lease-namespace", ok.error().text());
  }
  return {};
}

Result<void> take_publish(Texts& given, Flags& out) {
  constexpr std::array<std::string_view, 5> kKnown = {"mindcluster", "ack", "labels", "gfd-labels",
                                                      "metax-labels"};
  out.reporting.nfd_file = given["nfd-file"];
  if (!given["publish"].empty()) {
    for (const std::string_view what : split(given["publish"], ',')) {
      if (std::find(kKnown.begin(), kKnown.end(), what) == kKnown.end())
        return wrong("publish", unknown_name("value", what, {kKnown.begin(), kKnown.end()}));
      out.reporting.publish.emplace(what);
    }
  }
  const char* given_one = !out.reporting.publish.empty() ? "publish" : "nfd-file";
  if (out.reporting.scheduler &&
      (!out.reporting.publish.empty() || !out.reporting.nfd_file.empty()))
    return misused(given_one, "requires --kubernetes or --kubeconfig");
  out.reporting.pod_resources = given["pod-resources"];
  if (out.reporting.pod_resources.empty()) return {};
  if (out.reporting.scheduler)
    return misused("pod-resources", "requires --kubernetes or --kubeconfig");
  if (const auto ok = check_socket_path(out.reporting.pod_resources); !ok)
    return wrong("pod-resources",
                 ok.error().text() + ", got " + in_quotes(out.reporting.pod_resources));
  return {};
}

Result<void> take_enforcement(Texts& given, Flags& out) {
  const std::string& how = given["enforcement"];
  if (!given["gate-file"].empty() && how != domain::name_of(domain::Enforcement::device_plugin))
    return misused("gate-file", "requires --enforcement device-plugin");
  if (how.empty()) return {};
  const auto known = domain::enforcement_of(how);
  if (!known) {
    return wrong(
        "enforcement",
        unknown_name("value", how, {domain::kEnforcements.begin(), domain::kEnforcements.end()}));
  }
  if (out.reporting.scheduler)
    return misused("enforcement", "requires --kubernetes or --kubeconfig");
  out.reporting.enforcement = *known;
  if (!given["gate-file"].empty()) out.reporting.gate_file = given["gate-file"];
  return {};
}

Result<bool> switch_of(Texts& given, const char* flag) {
  const std::string& value = given[flag];
  if (value.empty() || value == "false") return false;
  if (value == "true") return true;
  return wrong(flag, "expected true or false, got " + in_quotes(value));
}

// An absolute path without a slash at its end, for a folder; else `usual`.
Result<std::string> folder_of(Texts& given, const char* flag, const char* usual) {
  const std::string& value = given[flag];
  if (value.empty()) return std::string(usual);
  if (value.front() != '/' || value.back() == '/' || value.find('\0') != std::string::npos)
    return wrong(flag, "expected an absolute path, got " + in_quotes(value));
  return value;
}

Result<void> take_dra(Texts& given, Flags& out) {
  if (given["dra-driver"].empty()) {
    for (const char* flag :
         {"dra-managed", "dra-evict", "dra-device-nodes", "dra-toolkit-kind", "dra-cdi-folder",
          "dra-kubelet-folder", "dra-state-folder", "dra-host-root"}) {
      if (!given[flag].empty() && given[flag] != "false")
        return misused(flag, "requires --dra-driver");
    }
    return {};
  }
  if (out.reporting.scheduler)
    return misused("dra-driver", "requires --kubernetes or --kubeconfig");
  dra::DraOptions dra;
  dra.driver = given["dra-driver"];
  if (const auto ok = dra::check_driver_name(dra.driver); !ok)
    return wrong("dra-driver", ok.error().text());
  const auto managed = switch_of(given, "dra-managed");
  if (!managed) return managed.error();
  const auto evict = switch_of(given, "dra-evict");
  if (!evict) return evict.error();
  dra.managed = *managed;
  dra.evict = *evict;
  if (!given["dra-device-nodes"].empty()) {
    auto nodes = dra::parse_node_rules(given["dra-device-nodes"]);
    if (!nodes) return wrong("dra-device-nodes", nodes.error().text());
    dra.nodes = std::move(*nodes);
  }
  dra.toolkit_kind = given["dra-toolkit-kind"];
  if (!dra.toolkit_kind.empty()) {
    if (const auto ok = dra::check_cdi_kind(dra.toolkit_kind); !ok)
      return wrong("dra-toolkit-kind", ok.error().text());
  }
  auto cdi = folder_of(given, "dra-cdi-folder", dra::kCdiFolder);
  if (!cdi) return std::move(cdi).error();
  auto kubelet = folder_of(given, "dra-kubelet-folder", "/var/lib/kubelet");
  if (!kubelet) return std::move(kubelet).error();
  auto state = folder_of(given, "dra-state-folder", dra::kStateFolder);
  if (!state) return std::move(state).error();
  auto root = folder_of(given, "dra-host-root", "");
  if (!root) return std::move(root).error();
  dra.cdi_folder = std::move(*cdi);
  dra.kubelet_folder = std::move(*kubelet);
  dra.state_folder = std::move(*state);
  dra.host_root = std::move(*root);
  if (const auto ok =
          check_socket_path(dra.kubelet_folder + "/plugins_registry/" + dra.driver + "-reg.sock");
      !ok)
    return wrong("dra-kubelet-folder", ok.error().text() + ", with the socket's name");
  out.reporting.dra = std::move(dra);
  return {};
}

Result<void> take_rank_tables(Texts& given, Flags& out) {
  if (given["rank-table-files"].empty()) {
    return given["rank-table-folder"].empty()
               ? Result<void>()
               : misused("rank-table-folder", "requires --rank-table-files");
  }
  if (out.reporting.scheduler)
    return misused("rank-table-files", "requires --kubernetes or --kubeconfig");
  auto namespaces = read_rank_table_namespaces(given["rank-table-files"]);
  if (!namespaces) return wrong("rank-table-files", namespaces.error().text());
  out.reporting.rank_tables.namespaces = std::move(*namespaces);
  auto folder = folder_of(given, "rank-table-folder", kRankTableFolder);
  if (!folder) return std::move(folder).error();
  out.reporting.rank_tables.folder = std::move(*folder);
  return {};
}

Result<void> take_tls(Texts& given, Flags& out) {
  out.reporting.tls_ca = given["tls-ca"];
  out.reporting.tls_cert = given["tls-cert"];
  out.reporting.tls_key = given["tls-key"];
  out.reporting.tls_server_name = given["tls-server-name"];
  out.metrics_tls_cert = given["metrics-tls-cert"];
  out.metrics_tls_key = given["metrics-tls-key"];
  for (const char* flag : {"tls-cert", "tls-key", "tls-server-name"}) {
    if (!given[flag].empty() && out.reporting.tls_ca.empty())
      return misused(flag, "requires --tls-ca, the CA of the scheduler's certificate");
  }
  if (!out.reporting.tls_ca.empty() && !out.reporting.scheduler)
    return misused("tls-ca",
                   "requires --scheduler: for the API server, a kubeconfig has its own CA");
  if (out.reporting.tls_cert.empty() != out.reporting.tls_key.empty())
    return out.reporting.tls_key.empty() ? misused("tls-cert", "requires --tls-key")
                                         : misused("tls-key", "requires --tls-cert");
  if (!out.reporting.tls_server_name.empty() && !plain(out.reporting.tls_server_name, "-._:"))
    return wrong("tls-server-name", "expected a host name or an address, got " +
                                        in_quotes(out.reporting.tls_server_name));
  if (out.metrics_tls_cert.empty() != out.metrics_tls_key.empty())
    return out.metrics_tls_key.empty() ? misused("metrics-tls-cert", "requires --metrics-tls-key")
                                       : misused("metrics-tls-key", "requires --metrics-tls-cert");
  if (!out.metrics_tls_cert.empty() && !out.metrics)
    return misused("metrics-tls-cert", "requires --metrics, whose port it secures");
  return {};
}

Result<Flags> check(Texts given) {
  Flags out;
  out.node = given["node"];
  out.reporting.node = out.node;
  if (out.node.empty()) return misused("node", "is required (the name of this node)");
  if (!plain(out.node, "-._")) {
    return wrong("node",
                 "expected a node name (letters, digits, '-', '.' and '_', at most 253), got " +
                     in_quotes(out.node));
  }
  if (auto ok = take_probe(given["probe"], out); !ok) return std::move(ok).error();
  if (auto ok = take_hardware(given, out); !ok) return std::move(ok).error();
  if (auto ok = take_destination(given, out); !ok) return std::move(ok).error();
  if (auto ok = take_publish(given, out); !ok) return std::move(ok).error();
  if (auto ok = take_enforcement(given, out); !ok) return std::move(ok).error();
  if (auto ok = take_dra(given, out); !ok) return std::move(ok).error();
  if (auto ok = take_rank_tables(given, out); !ok) return std::move(ok).error();
  if (!given["metrics"].empty()) {
    auto metrics = parse_endpoint(given["metrics"], PortZero::allowed);
    if (!metrics) return std::move(metrics).error().in("--metrics");
    out.metrics = std::move(metrics).value();
  }
  if (auto ok = take_tls(given, out); !ok) return std::move(ok).error();
  out.health_file = given["health-file"];
  out.port_file = given["port-file"];
  if (!out.port_file.empty() && !out.metrics) {
    return misused("port-file", "requires --metrics, whose port it records");
  }
  if (!given["resource"].empty()) {
    const std::vector<std::string_view> listed = split(given["resource"], ',');
    out.resources.assign(listed.begin(), listed.end());
    if (out.resources.size() > std::size_t{limits::kMaxResources}) {
      return wrong("resource", "expected at most " + std::to_string(limits::kMaxResources) +
                                   " resources, got " + std::to_string(out.resources.size()));
    }
    for (const std::string& r : out.resources) {
      const std::size_t slash = r.find('/');
      if (!plain(r, "-._/") || slash == 0 || slash == std::string::npos || slash + 1 == r.size() ||
          r.find('/', slash + 1) != std::string::npos)
        return wrong("resource",
                     "expected names such as nvidia.com/gpu, comma separated, got " + in_quotes(r));
    }
  }
  if (!given["log-level"].empty()) out.log_level = given["log-level"];
  constexpr std::array<std::string_view, 4> kLevels = {"debug", "info", "warn", "error"};
  if (std::find(kLevels.begin(), kLevels.end(), out.log_level) == kLevels.end()) {
    return wrong("log-level",
                 unknown_name("level", out.log_level, {kLevels.begin(), kLevels.end()}));
  }
  return out;
}

Result<Texts> read_config(const std::string& path) {
  std::vector<std::string> keys;
  keys.reserve(kFlags.size());
  for (const FlagText& flag : kFlags) keys.emplace_back(flag.name);
  const auto text = io::read_file(path, limits::kMaxConfigBytes);
  if (!text) return Error(text.error());
  auto texts = codec::parse_flat_yaml(*text, keys);
  if (!texts) return std::move(texts).error().in("file " + path);
  return texts;
}

void print_config(const Texts& given) {
  for (const FlagText& flag : kFlags) {
    const auto found = given.find(flag.name);
    const std::string value = found == given.end() ? "" : found->second;
    std::string quoted;
    for (const char c : value) quoted += c == '\'' ? "''" : std::string(1, c);
    std::printf("%s: '%s'\n", flag.name, quoted.c_str());
  }
}

Parsed exit_with(int code, const std::string& message) {
  std::fprintf(stderr, "chipweave-agent: %s\n", message.c_str());
  return {std::nullopt, code};
}

}  // namespace

Parsed parse_flags(int argc, char** argv) {
  CLI::App app(
      "Reports the accelerators of this node, their links and their health: to chipweave-scheduler "
      "or to a cluster's API server.",
      "chipweave-agent");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("chipweave-agent ") + CHIPWEAVE_VERSION);
  Texts given;
  std::string config;
  bool show = false;
  bool policy = false;
  std::map<std::string, CLI::Option*> options;
  for (const FlagText& flag : kFlags) {
    const std::string dashed = std::string("--") + flag.name;
    options[flag.name] = flag.is_switch ? app.add_flag(dashed, given[flag.name], flag.what)
                                        : app.add_option(dashed, given[flag.name], flag.what);
  }
  app.add_option("--config", config,
                 "YAML file with these flags as keys (without dashes); flags win");
  app.add_flag("--print-config", show, "print the effective configuration and exit");
  app.add_flag("--print-policy", policy,
               "print the health policy in force, built-in rules included, and exit");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    return {std::nullopt, app.exit(e)};
  } catch (const CLI::ParseError& e) {
    return exit_with(2, chipweave::flags::usage_error(app, e));
  }
  if (!config.empty()) {
    const auto texts = read_config(config);
    if (!texts) {
      const bool wrong_content = texts.error().code == Errc::invalid_argument;
      return exit_with(wrong_content ? 2 : 3, texts.error().text());
    }
    for (const auto& [key, value] : *texts) {
      if (options[key]->count() == 0) given[key] = value;
    }
  }
  if (policy) {
    const auto text = print_health_policy(given["health-policy"], given["ascend-fault-codes"]);
    if (!text) return exit_with(3, text.error().text());
    std::fwrite(text->data(), 1, text->size(), stdout);
    return {};
  }
  auto flags = check(given);
  if (!flags) return exit_with(2, flags.error().text());
  if (show) {
    print_config(given);
    return {};
  }
  return {std::move(flags).value(), 0};
}

}  // namespace chipweave::agent
