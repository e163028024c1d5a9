#include "cli/plan/live_cluster.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "cli/options.hpp"
#include "cli/plan/kube_objects.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/network/plan_network.hpp"
#include "common/codec/topology/import.hpp"

namespace chipweave::cli {
namespace {

using codec::JsonTree;
using codec::JsonValue;

constexpr codec::JsonLimits kLimits{limits::kMaxPlanLineBytes, limits::kMaxPlanValues};

// Keys of a topology that differ between nodes with the same machine and that no plan reads.
bool is_identity(std::string_view key) {
  constexpr std::array<std::string_view, 8> kKeys = {"id",         "device_ips",  "physical_id",
                                                     "logical_id", "super_pod",   "super_device_id",
                                                     "name",       "memory_bytes"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

// The topology without what names its chips, so that equal machines are equal texts.
std::string wiring_text(JsonValue topology) {
  JsonWriter out;
  out.begin_object();
  for (const JsonValue member : topology) {
    if (is_identity(member.name())) continue;
    out.key(member.name());
    if (member.name() != "chips") {
      out.reformatted(member.raw());
      continue;
    }
    out.begin_array();
    for (const JsonValue chip : member) {
      out.begin_object();
      for (const JsonValue fact : chip)
        if (!is_identity(fact.name())) out.key(fact.name()).reformatted(fact.raw());
      out.end_object();
    }
    out.end_array();
  }
  return out.end_object().take();
}

// A node as the scheduler sees it.
struct LiveNode {
  codec::NodeView view;
  std::string machine;  // key of LiveCluster::machines
};
using LiveNodes = std::map<std::string, LiveNode, std::less<>>;

Result<LiveNodes> scheduler_nodes(SchedulerClient& scheduler, LiveCluster& out) {
  auto views = scheduler.nodes_with_topologies();
  if (!views) return std::move(views).error();
  LiveNodes nodes;
  std::map<std::string, std::string> keys;  // by wiring
  for (codec::NodeView& view : *views) {
    if (view.topology.empty())
      return make_error(Errc::unsupported,
                        "the scheduler does not say how nodes are wired: it is older than this "
                        "program");
    const auto tree = codec::parse_json(view.topology, kLimits);
    if (!tree) return Error(tree.error()).in("node " + view.name);
    const std::string wiring = wiring_text(JsonValue(*tree));
    const auto [at, fresh] = keys.try_emplace(
        wiring, concat(view.machine.empty() ? "machine" : view.machine, "#", keys.size() + 1));
    if (fresh) {
      auto machine = codec::import_topology_json(wiring, {});
      if (!machine) return std::move(machine).error().in("node " + view.name);
      out.machines.emplace(at->second, std::move(machine->topology));
    }
    view.topology.clear();
    std::string name = view.name;
    nodes.emplace(std::move(name), LiveNode{std::move(view), at->second});
  }
  return nodes;
}

std::vector<int> used_chips(const codec::NodeView& view) {
  std::vector<int> out = view.chips_in_parts;
  for (const auto& [pod, chips] : view.used) out.insert(out.end(), chips.begin(), chips.end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void write_live(JsonWriter& out, const LiveNode& live) {
  out.field("machine", live.machine).key("free_chips").integers(live.view.free);
  out.key("loaded_chips").integers(used_chips(live.view));
  if (!live.view.down_nics.empty()) out.key("down_nics").strings(live.view.down_nics);
  if (live.view.stale) out.key("healthy").boolean(false);
}

// What a node of the description keeps beside what the scheduler knows of it.
bool is_place(std::string_view key) {
  return key == "name" || key == "path" || key == "accelerator" || key == "rails" ||
         key == "max_pods";
}

void begin_node(JsonWriter& out, JsonValue node) {
  out.begin_object();
  for (const JsonValue fact : node)
    if (is_place(fact.name())) out.key(fact.name()).reformatted(fact.raw());
}

// The network's nodes with what the scheduler knows of them, then those that the network lacks.
std::string with_live_nodes(JsonValue network, const LiveNodes& live, LiveCluster& to) {
  std::size_t unknown = 0;
  std::size_t added = 0;
  std::set<std::string_view> seen;
  const auto write = [&](JsonWriter& out, JsonValue node) {
    begin_node(out, node);
    const auto at = live.find(node["name"].text());
    if (at == live.end()) ++unknown;
    if (at != live.end()) write_live(out, at->second);
    seen.insert(node["name"].text());
    out.end_object();
  };
  const auto append = [&](JsonWriter& out) {
    for (const auto& [name, node] : live) {
      if (seen.contains(name)) continue;
      ++added;
      out.begin_object().field("name", name);
      write_live(out, node);
      out.end_object();
    }
  };
  std::string out = codec::with_nodes(network, write, append);
  if (added > 0)
    to.warnings.push_back(
        "nodes of the scheduler that are not in the network, and that are near no other for that "
        "reason: " +
        std::to_string(added));
  if (unknown > 0)
    to.warnings.push_back(
        "nodes of the network that the scheduler does not know, and that have no free chips for "
        "that reason: " +
        std::to_string(unknown));
  return out;
}

// All nodes in one level of single nodes.
std::string flat_network(const LiveNodes& nodes) {
  JsonWriter out;
  out.begin_object().key("levels").strings(std::vector<std::string>{"hostname"});
  out.key("nodes").begin_array();
  for (const auto& [name, node] : nodes) {
    out.begin_object().field("name", name);
    out.key("path").strings(std::vector<std::string>{name}).end_object();
  }
  return out.end_array().end_object().take();
}

// Counts of free chips, where no scheduler knows which they are.
std::string with_counts(JsonValue network, const KubeObjects& objects) {
  return codec::with_nodes(network, [&objects](JsonWriter& out, JsonValue node) {
    begin_node(out, node);
    const auto at = objects.nodes.find(node["name"].text());
    if (at != objects.nodes.end()) {
      out.field("free", at->second.free);
      if (!at->second.schedulable) out.key("healthy").boolean(false);
    }
    out.end_object();
  });
}

std::string joined_path(JsonValue path) {
  std::string out;
  for (const JsonValue element : path)
    out += (out.empty() ? "" : "/") + std::string(element.text());
  return out;
}

// The running pods of a job, as the key `existing` of a gang.
Result<std::string> existing_pods(SchedulerClient& scheduler, const std::string& job,
                                  JsonValue network) {
  auto pods = scheduler.pods();
  if (!pods) return std::move(pods).error();
  struct Here {
    int pods = 0;
    std::vector<int> chips;
  };
  std::map<std::string, Here, std::less<>> by_node;
  for (const codec::PodSummary& pod : *pods) {
    if (pod.node.empty() || pod.job.empty() || pod.ns + "/" + pod.job != job) continue;
    Here& here = by_node[pod.node];
    ++here.pods;
    here.chips.insert(here.chips.end(), pod.chips.begin(), pod.chips.end());
  }
  if (by_node.empty())
    return make_error(Errc::not_found, "no pod of " + job + " has a node").in("--job");
  JsonWriter out;
  out.begin_object();
  for (const JsonValue node : network["nodes"]) {
    const auto at = by_node.find(node["name"].text());
    if (at == by_node.end()) continue;
    out.key(joined_path(node["path"])).begin_object().field("pods", at->second.pods);
    if (!at->second.chips.empty()) out.key("chips").integers(at->second.chips);
    out.end_object();
  }
  return out.end_object().take();
}

}  // namespace

void add_live_options(CLI::App& command, LiveClusterFlags& flags, CLI::Option* batch) {
  for (CLI::Option* o : add_scheduler_options(command, flags.scheduler))
    if (o->get_name() == "--scheduler") o->excludes(batch);
  const auto option = [&](const char* name, std::string& to, const char* says, const char* form) {
    add_value(command, name, form, to, says)->excludes(batch);
  };
  option("--kubeconfig", flags.kubeconfig,
         "take the network from this cluster's nodes, HyperNodes or Topologies", "FILE");
  option("--kube-context", flags.context, "context of the kubeconfig; default: its current one",
         "NAME");
  option(
      "--resource", flags.resource,
      "accelerator resource that is counted on Kubernetes nodes; default: those of known vendors",
      "NAME");
  option("--job", flags.job, "job whose running pods the gang has already", "NAMESPACE/NAME");
}

std::string live_usage_error(const LiveClusterFlags& flags) {
  if (!flags.scheduler.url.empty()) {
    if (auto good = http::Client::check_url(flags.scheduler.url); !good)
      return "--scheduler: " + good.error().text();
  }
  if (flags.kubeconfig.empty() && !flags.context.empty())
    return "--kube-context requires --kubeconfig";
  if (!flags.job.empty() && flags.scheduler.url.empty()) return "--job requires --scheduler";
  if (!flags.job.empty() && flags.job.find('/') == std::string::npos)
    return "--job: expected NAMESPACE/NAME, got " + flags.job;
  return "";
}

Result<LiveCluster> read_live_cluster(const LiveClusterFlags& flags, const std::string& description,
                                      const codec::NetworkImportOptions& import,
                                      std::optional<std::int64_t> free) {
  LiveCluster out;
  std::optional<KubeObjects> objects;
  if (!flags.kubeconfig.empty()) {
    auto read = read_kube_objects(flags.kubeconfig, flags.context, flags.resource);
    if (!read) return std::move(read).error();
    objects = *std::move(read);
  }
  std::optional<SchedulerClient> scheduler;
  LiveNodes nodes;
  if (!flags.scheduler.url.empty()) {
    auto transport = connect(flags.scheduler);
    if (!transport) return std::move(transport).error();
    scheduler.emplace(*std::move(transport));
    auto read = scheduler_nodes(*scheduler, out);
    if (!read) return std::move(read).error();
    nodes = *std::move(read);
  }
  std::string network;
  if (description.empty() && !objects) {
    network = flat_network(nodes);
  } else {
    auto read = codec::plan_network(description.empty() ? objects->description : description,
                                    import, free.value_or(0));
    if (!read) return std::move(read).error();
    network = std::move(read->json);
    for (std::string& warning : read->warnings)
      if (!warning.starts_with("--free")) out.warnings.push_back(std::move(warning));
  }
  auto tree = codec::parse_json(network, kLimits);
  if (!tree) return std::move(tree).error();
  if (scheduler)
    out.network = with_live_nodes(JsonValue(*tree), nodes, out);
  else
    out.network = with_counts(JsonValue(*tree), *objects);
  if (flags.job.empty()) return out;
  auto existing = existing_pods(*scheduler, flags.job, JsonValue(*tree));
  if (!existing) return std::move(existing).error();
  out.existing = *std::move(existing);
  return out;
}

}  // namespace chipweave::cli
