#include "node-agent/device_plugin/flags.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

#include <CLI/CLI.hpp>

#include "common/base/dns_name.hpp"
#include "common/base/endpoint.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/codec/config/flat_yaml.hpp"
#include "common/domain/vendor.hpp"
#include "common/flags/usage_error.hpp"
#include "common/io/files.hpp"
#include "node-agent/device_plugin/core/ack_label.hpp"
#include "node-agent/sources/list_lock.hpp"

namespace chipweave::device_plugin {
namespace {

struct FlagText {
  const char* name;
  const char* what;
  bool is_switch = false;  // may be given without a value, which means true
};

// Every one is also a key of the configuration file.
constexpr std::array<FlagText, 25> kFlags = {{
    {"node", "name of this node as the cluster knows it"},
    {"resource", "the extended resource whose devices this process offers: nvidia.com/gpu"},
    {"ack-label",
     "for nodes of ACK: also offers aliyun.com/gpu, in place of nvidia.com/gpu while the label "
     "ack.node.gpu.schedule of the node is topology",
     true},
    {"kubernetes",
     "follow the pods and the agent's inventory in the cluster in which this is a pod", true},
    {"kubeconfig", "the same by the API server in this kubeconfig"},
    {"machine",
     "a built-in profile or a topology file instead of the agent's inventory; all chips are "
     "healthy"},
    {"on-mismatch",
     "if a pod cannot get the chips of its decision: refuse (it fails) or adopt (it gets the best "
     "others, and its annotation is corrected); default refuse"},
    {"give",
     "how containers get their chips: env, cdi, devices, comma separated; default: the usual way "
     "of "
     "the vendor"},
    {"environment",
     "NAME=TEXT, comma separated by ';': variables instead of the vendor's, with {ids}, {indices} "
     "or "
     "{physicals}"},
    {"cdi-device", "name of a chip's CDI device instead of the vendor's: example.com/gpu={index}"},
    {"device-node",
     "a chip's device nodes instead of the vendor's, comma separated: /dev/gpu{index}, "
     "/dev/nvidia{minor}; a ? behind a node that is handed over only where it exists"},
    {"shared-device-node",
     "device nodes that every container with chips gets, comma separated, and ? likewise"},
    {"device-plugins",
     "the kubelet's folder for device plugins; default /var/lib/kubelet/device-plugins"},
    {"pod-resources",
     "the kubelet's PodResources socket; default /var/lib/kubelet/pod-resources/kubelet.sock"},
    {"vendor-folder",
     "keep the vendor's own plugin behind this one: the folder that it has in place of the "
     "kubelet's; its ids, answers and health pass through; default: none"},
    {"kubelet-config",
     "the kubelet's configuration file: with a topologyManagerPolicy other than none, the plugin "
     "does not start; default: not read"},
    {"device-root",
     "folder that contains the host's dev, and its proc and sys unless they are those of this "
     "container, to see which device nodes exist; default: /"},
    {"gate-file",
     "file that says whether pods may be bound to this node, for chipweave-agent, and FILE.lists "
     "beside it, which keeps that from listing while chips are given away; default: none"},
    {"wait-for-pod-ms",
     "how long a request waits for a pod that the API server has not shown yet; default 300"},
    {"list-deadline-ms", "how long the kubelet may take to list its pods; default 2000"},
    {"metrics", "HOST:PORT for /metrics and /healthz; port 0: any free one; default: none"},
    {"metrics-tls-cert", "PEM file: server certificate of --metrics; default: no TLS"},
    {"metrics-tls-key", "PEM file: its key"},
    {"port-file", "write {\"metrics\":PORT} here when ready"},
    {"log-level", "debug, info, warn or error; default info"},
}};

constexpr const char* kFooter =
    "Example:\n"
    "  chipweave-device-plugin --node gpu-1 --resource nvidia.com/gpu --kubernetes\n"
    "  chipweave-device-plugin --node gpu-1 --resource nvidia.com/gpu --machine hgx-v100-8\n"
    "Exit status: 0 ended by SIGTERM, 1 another one offers this resource, 2 wrong usage, "
    "3 an unusable file.";

using Texts = std::map<std::string, std::string>;

Error wrong_value(const std::string& flag, const std::string& why) {
  return make_error(Errc::invalid_argument, "--" + flag + ": " + why);
}

Error misuse(const std::string& flag, const std::string& why) {
  return make_error(Errc::invalid_argument, "--" + flag + " " + why);
}

std::string_view vendor_of_resource(const std::string& resource) {
  if (resource == "aliyun.com/gpu") return "nvidia";
  for (const auto id : {domain::VendorId::nvidia, domain::VendorId::amd, domain::VendorId::ascend,
                        domain::VendorId::metax}) {
    const domain::Vendor& vendor = domain::vendor_of(id);
    if (resource.starts_with(vendor.resource_domain)) return vendor.name;
  }
  return {};
}

Result<void> take_resource(Texts& given, Flags& out) {
  const std::string& resource = given["resource"];
  if (resource.empty()) return misuse("resource", "is required: nvidia.com/gpu");
  const std::size_t slash = resource.find('/');
  const std::string name = slash == std::string::npos ? "" : resource.substr(slash + 1);
  const bool plain = !name.empty() && name.size() <= limits::kMaxLabelBytes &&
                     std::all_of(name.begin(), name.end(), [](char c) {
                       return is_digit(c) || (lower_case(c) >= 'a' && lower_case(c) <= 'z') ||
                              c == '-' || c == '_' || c == '.';
                     });
  if (!plain || !is_dns_subdomain(resource.substr(0, slash)))
    return wrong_value("resource",
                       "expected a name such as nvidia.com/gpu, got " + in_quotes(resource));
  out.plugin.resource = resource;
  return {};
}

Result<void> take_templates(Texts& given, Flags& out) {
  HandOver& how = out.plugin.hand_over;
  if (!given["environment"].empty()) {
    how.environment.clear();
    for (const std::string_view one : split(given["environment"], ';')) {
      const std::size_t equals = one.find('=');
      if (equals == std::string_view::npos || equals == 0)
        return wrong_value("environment", "expected NAME=TEXT, got " + in_quotes(one));
      if (auto ok = check_placeholders(one, true); !ok)
        return wrong_value("environment", ok.error().text());
      how.environment.emplace(one.substr(0, equals), one.substr(equals + 1));
    }
  }
  const auto take = [&](const char* flag, const char* wanted, const auto& is_one,
                        const auto& add) -> Result<void> {
    for (const std::string_view one : split(given[flag], ',')) {
      if (!is_one(one))
        return wrong_value(flag, std::string("expected ") + wanted + ", got " + in_quotes(one));
      if (auto ok = check_placeholders(one, false); !ok)
        return wrong_value(flag, ok.error().text());
      add(one);
    }
    return {};
  };
  const auto is_cdi = [](std::string_view one) {
    return one.find('/') != std::string_view::npos && one.find('=') != std::string_view::npos;
  };
  const auto is_node = [](std::string_view one) {
    return one.starts_with("/dev/") && parse_node(one).path != "/dev/";
  };
  const auto take_nodes = [&](const char* flag, std::vector<HandOver::Node>& to) -> Result<void> {
    if (given[flag].empty()) return {};
    to.clear();
    return take(flag, "a path in /dev", is_node,
                [&](std::string_view one) { to.push_back(parse_node(one)); });
  };
  if (!given["cdi-device"].empty()) {
    how.cdi.clear();
    if (auto ok = take("cdi-device", "example.com/gpu={index}", is_cdi,
                       [&](std::string_view one) { how.cdi.emplace_back(one); });
        !ok)
      return ok;
  }
  if (auto ok = take_nodes("device-node", how.nodes); !ok) return ok;
  if (auto ok = take_nodes("shared-device-node", how.shared_nodes); !ok) return ok;
  if (given["shared-device-node"].find('{') != std::string::npos)
    return wrong_value("shared-device-node", "has no placeholders: it is the same for all chips");
  return {};
}

Result<void> take_hand_over(Texts& given, Flags& out) {
  out.plugin.vendor_folder = given["vendor-folder"];
  if (!out.plugin.vendor_folder.empty()) {
    for (const char* flag :
         {"give", "environment", "cdi-device", "device-node", "shared-device-node"}) {
      if (!given[flag].empty())
        return misuse(flag, "cannot be combined with --vendor-folder: the vendor's plugin answers");
    }
    if (auto ok = check_socket_path(out.plugin.vendor_folder + "/kubelet.sock"); !ok)
      return wrong_value("vendor-folder", ok.error().text());
    return {};
  }
  const bool own = !given["environment"].empty() || !given["cdi-device"].empty() ||
                   !given["device-node"].empty();
  if (!own || !given["give"].empty()) {
    auto usual = vendor_hand_over(vendor_of_resource(out.plugin.resource), given["give"]);
    if (!usual) return wrong_value("give", usual.error().text());
    out.plugin.hand_over = std::move(*usual);
  }
  return take_templates(given, out);
}

Result<bool> take_switch(Texts& given, const std::string& flag) {
  const std::string& value = given[flag];
  if (!value.empty() && value != "true" && value != "false")
    return wrong_value(flag, "expected true or false, got " + in_quotes(value));
  return value == "true";
}

Result<void> take_cluster(Texts& given, Flags& out) {
  const auto in_pod = take_switch(given, "kubernetes");
  if (!in_pod) return Error(in_pod.error());
  out.in_pod = *in_pod;
  out.kubeconfig = given["kubeconfig"];
  if (out.in_pod && !out.kubeconfig.empty())
    return misuse("kubernetes", "cannot be combined with --kubeconfig");
  out.machine = given["machine"];
  if (!out.cluster() && out.machine.empty())
    return misuse("kubernetes", "or --kubeconfig is required; without a cluster: --machine");
  out.plugin.follows_pods = out.cluster();
  return {};
}

Result<void> take_ack_label(Texts& given, Flags& out) {
  const auto ack_label = take_switch(given, "ack-label");
  if (!ack_label) return Error(ack_label.error());
  out.ack_label = *ack_label;
  if (!out.ack_label) return {};
  if (out.plugin.resource != kUsualResource)
    return misuse("ack-label", std::string("requires --resource ") + kUsualResource);
  if (!out.cluster())
    return misuse("ack-label", "requires --kubernetes or --kubeconfig: the label is the node's");
  if (!out.plugin.vendor_folder.empty()) {
    return misuse(
        "ack-label",
        "cannot be combined with --vendor-folder: the vendor's plugin offers one resource");
  }
  return {};
}

Result<void> take_paths(Texts& given, Flags& out) {
  const auto or_default = [&](const char* flag, const char* otherwise) {
    return given[flag].empty() ? std::string(otherwise) : given[flag];
  };
  out.plugin.folder = or_default("device-plugins", "/var/lib/kubelet/device-plugins");
  out.plugin.pod_resources =
      or_default("pod-resources", "/var/lib/kubelet/pod-resources/kubelet.sock");
  // Our own socket has the longest name.
  const std::string longest = out.plugin.folder + "/chipweave--.sock" + out.plugin.resource;
  if (auto ok = check_socket_path(longest); !ok)
    return wrong_value("device-plugins", ok.error().text());
  if (auto ok = check_socket_path(out.plugin.pod_resources); !ok)
    return wrong_value("pod-resources", ok.error().text());
  out.plugin.device_root = given["device-root"];
  out.gate_file = given["gate-file"];
  if (!out.gate_file.empty()) out.plugin.list_lock = agent::list_lock_path(out.gate_file);
  out.kubelet_config = given["kubelet-config"];
  if (!out.plugin.vendor_folder.empty() && out.plugin.vendor_folder == out.plugin.folder)
    return misuse("vendor-folder", "must not be the kubelet's own folder");
  return {};
}

Result<void> take_metrics(Texts& given, Flags& out) {
  out.metrics_tls_cert = given["metrics-tls-cert"];
  out.metrics_tls_key = given["metrics-tls-key"];
  out.port_file = given["port-file"];
  if (!given["metrics"].empty()) {
    auto metrics = parse_endpoint(given["metrics"], PortZero::allowed);
    if (!metrics) return std::move(metrics).error().in("--metrics");
    out.metrics = std::move(*metrics);
  }
  for (const char* flag : {"metrics-tls-cert", "metrics-tls-key", "port-file"}) {
    if (!given[flag].empty() && !out.metrics) return misuse(flag, "requires --metrics");
  }
  if (out.metrics_tls_cert.empty() != out.metrics_tls_key.empty())
    return misuse("metrics-tls-cert", "and --metrics-tls-key are given together");
  return {};
}

Result<void> take_times(Texts& given, Flags& out) {
  const auto take = [&](const char* flag, int most, PluginOptions::Ms& to) -> Result<void> {
    if (given[flag].empty()) return {};
    const auto number = whole_number<int>(given[flag], most);
    if (!number)
      return wrong_value(
          flag, "expected 0 to " + std::to_string(most) + ", got " + in_quotes(given[flag]));
    to = PluginOptions::Ms(*number);
    return {};
  };
  if (auto ok = take("wait-for-pod-ms", 10'000, out.plugin.wait_for_pod); !ok) return ok;
  return take("list-deadline-ms", 20'000, out.plugin.list_within);
}

Result<Flags> check(Texts given) {
  Flags out;
  out.plugin.node = given["node"];
  if (!is_dns_subdomain(out.plugin.node))
    return out.plugin.node.empty() ? misuse("node", "is required (the name of this node)")
                                   : wrong_value("node", "expected the name of a Node, got " +
                                                             in_quotes(given["node"]));
  if (auto ok = take_resource(given, out); !ok) return std::move(ok).error();
  if (auto ok = take_cluster(given, out); !ok) return std::move(ok).error();
  if (auto ok = take_hand_over(given, out); !ok) return std::move(ok).error();
  if (auto ok = take_ack_label(given, out); !ok) return std::move(ok).error();
  if (auto ok = take_paths(given, out); !ok) return std::move(ok).error();
  if (auto ok = take_times(given, out); !ok) return std::move(ok).error();
  if (auto ok = take_metrics(given, out); !ok) return std::move(ok).error();
  if (const std::string& what = given["on-mismatch"]; !what.empty()) {
    if (what != "refuse" && what != "adopt")
      return wrong_value("on-mismatch", unknown_name("value", what, {"refuse", "adopt"}));
    out.plugin.on_mismatch = what == "adopt" ? OnMismatch::adopt : OnMismatch::refuse;
  }
  if (!given["log-level"].empty()) out.log_level = given["log-level"];
  constexpr std::array<std::string_view, 4> kLevels = {"debug", "info", "warn", "error"};
  if (std::find(kLevels.begin(), kLevels.end(), out.log_level) == kLevels.end())
    return wrong_value("log-level",
                       unknown_name("level", out.log_level, {kLevels.begin(), kLevels.end()}));
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
    std::string quoted;
    for (const char c : found == given.end() ? "" : found->second)
      quoted += c == '\'' ? "''" : std::string(1, c);
    std::printf("%s: '%s'\n", flag.name, quoted.c_str());
  }
}

Parsed exit_with(int code, const std::string& message) {
  std::fprintf(stderr, "chipweave-device-plugin: %s\n", message.c_str());
  return {std::nullopt, code};
}

}  // namespace

Parsed parse_flags(int argc, char** argv) {
  CLI::App app(
      "Gives containers the chips that the scheduler has chosen for them: a device plugin of the "
      "kubelet for one extended resource.",
      "chipweave-device-plugin");
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("chipweave-device-plugin ") + CHIPWEAVE_VERSION);
  Texts given;
  std::string config;
  bool show = false;
  std::map<std::string, CLI::Option*> options;
  for (const FlagText& flag : kFlags) {
    const std::string dashed = std::string("--") + flag.name;
    options[flag.name] = flag.is_switch ? app.add_flag(dashed, given[flag.name], flag.what)
                                        : app.add_option(dashed, given[flag.name], flag.what);
  }
  app.add_option("--config", config,
                 "YAML file with these flags as keys (without dashes); flags win");
  app.add_flag("--print-config", show, "print the effective configuration and exit");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    return {std::nullopt, app.exit(e)};
  } catch (const CLI::ParseError& e) {
    return exit_with(2, chipweave::flags::usage_error(app, e));
  }
  if (!config.empty()) {
    const auto texts = read_config(config);
    if (!texts)
      return exit_with(texts.error().code == Errc::invalid_argument ? 2 : 3, texts.error().text());
    for (const auto& [key, value] : *texts) {
      if (options[key]->count() == 0) given[key] = value;
    }
  }
  auto flags = check(given);
  if (!flags) return exit_with(2, flags.error().text());
  if (show) {
    print_config(given);
    return {};
  }
  return {std::move(flags).value(), 0};
}

}  // namespace chipweave::device_plugin
