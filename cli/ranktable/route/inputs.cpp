#include "cli/ranktable/route/inputs.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "cli/commands.hpp"
#include "cli/input_file.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_tree.hpp"
#include "common/codec/network/hostfile.hpp"
#include "common/codec/network/plan_network.hpp"
#include "common/codec/ranktable/modelarts/job_table.hpp"

namespace chipweave::cli {
namespace {

// An error that names a flag is wrong usage and does not name the file.
Error of_file(Error error, const std::string& file) {
  if (exit_for(error) == Exit::usage) return error;
  return std::move(error).in(input_name(file));
}

Result<std::string> read_some(const std::string& file) {
  return read_input(file, limits::kMaxNetworkFileBytes);
}

void append(std::vector<std::string>& to, std::vector<std::string> from) {
  for (std::string& each : from) to.push_back(std::move(each));
}

Error wrong_usage(std::string message) {
  return make_error(Errc::invalid_argument, std::move(message));
}

Result<void> check_standard_input(const RouteInputFlags& flags) {
  std::string twice = standard_input_error({{"--pods", flags.pods},
                                            {"--nodes", flags.nodes},
                                            {"--hosts", flags.hosts},
                                            {"--network", flags.network},
                                            {"--previous", flags.previous}});
  if (twice.empty()) return {};
  return wrong_usage(std::move(twice));
}

Result<void> check_usage(const RouteInputFlags& flags) {
  if (flags.pods.empty() && flags.hosts.empty())
    return wrong_usage("one of --pods or --hosts is required");
  if (!flags.pods.empty() && !flags.hosts.empty())
    return wrong_usage("--pods cannot be combined with --hosts");
  if (!flags.hosts.empty() && flags.network.empty())
    return wrong_usage("--hosts requires --network: a hostfile does not describe switches");
  if (flags.pods.empty() && !flags.nodes.empty()) return wrong_usage("--nodes requires --pods");
  if (flags.pods.empty() && !flags.previous.empty())
    return wrong_usage("--previous requires --pods");
  return check_standard_input(flags);
}

RouteMachine machine_of(const codec::JobPod& pod) {
  RouteMachine out;
  const std::string server = pod.report ? pod.report->server_id : "";
  for (const std::string& name : {pod.node, pod.host_ip, server}) {
    if (!name.empty()) out.names.push_back(name);
  }
  out.host = pod.node.empty() ? pod.host_ip : pod.node;
  if (!pod.report) return out;
  for (const codec::RouteDevice& device : pod.report->devices) out.tors.push_back(device.tor_ip);
  return out;
}

Result<codec::RouteNodes> read_nodes(const std::string& file, codec::JobPods& job) {
  const Result<std::string> text = read_some(file);
  if (!text) return text.error();
  Result<codec::RouteNodes> nodes = codec::read_route_nodes(*text);
  if (!nodes) return of_file(std::move(nodes).error(), file);
  codec::add_node_switches(job, *nodes);
  return nodes;
}

// Networks may name nodes by any of their addresses.
void add_addresses(std::vector<RouteMachine>& machines, const codec::RouteNodes& nodes) {
  std::unordered_map<std::string, const codec::RouteNode*> by_name;
  for (const codec::RouteNode& node : nodes.nodes) by_name.emplace(node.name, &node);
  for (RouteMachine& machine : machines) {
    const auto node = by_name.find(machine.host);
    if (node != by_name.end()) append(machine.names, node->second->addresses);
  }
}

Result<void> read_job(const RouteInputFlags& flags, RouteInputs& out) {
  const Result<std::string> text = read_some(flags.pods);
  if (!text) return text.error();
  Result<codec::JobPods> job = codec::read_job_pods(*text, flags.choice);
  if (!job) return of_file(std::move(job).error(), flags.pods);
  append(out.warnings, job->warnings);
  codec::RouteNodes nodes;
  if (!flags.nodes.empty()) {
    Result<codec::RouteNodes> read = read_nodes(flags.nodes, *job);
    if (!read) return std::move(read).error();
    nodes = *std::move(read);
    append(out.warnings, nodes.warnings);
  }
  for (const codec::JobPod& pod : job->pods) {
    out.names.push_back(pod.name);
    out.indexes.push_back(pod.index);
    out.machines.push_back(machine_of(pod));
  }
  add_addresses(out.machines, nodes);
  out.job = *std::move(job);
  return {};
}

Result<void> read_hosts(const RouteInputFlags& flags, RouteInputs& out) {
  Result<std::vector<RouteMachine>> machines = read_route_hosts(flags.hosts);
  if (!machines) return std::move(machines).error();
  out.machines = *std::move(machines);
  for (const RouteMachine& machine : out.machines) {
    out.indexes.push_back(out.names.size());
    out.names.push_back(machine.host);
  }
  return {};
}

// For pods without one.
void add_super_pods(RouteInputs& inputs) {
  if (!inputs.job) return;
  const std::vector<std::string> known = super_pods_in(*inputs.network, inputs.machines);
  for (std::size_t i = 0; i < known.size(); ++i) {
    std::string& super_pod = inputs.job->pods[i].super_pod;
    if (super_pod.empty()) super_pod = known[i];
  }
}

}  // namespace

bool RouteInputs::placed() const {
  return (!job || job->missing.empty()) &&
         std::none_of(machines.begin(), machines.end(),
                      [](const RouteMachine& machine) { return machine.host.empty(); });
}

Result<domain::NetworkTable> read_route_network(const std::string& file,
                                                const codec::NetworkImportOptions& options,
                                                std::vector<std::string>& warnings) {
  const Result<std::string> text = read_some(file);
  if (!text) return text.error();
  Result<codec::ImportedNetwork> network = codec::import_levelled_network(*text, options);
  if (!network) return of_file(std::move(network).error(), file);
  append(warnings, std::move(network->warnings));
  return std::move(network->table);
}

Result<std::vector<RouteMachine>> read_route_hosts(const std::string& file) {
  const Result<std::string> text = read_some(file);
  if (!text) return text.error();
  const Result<std::vector<codec::Host>> hosts = codec::parse_hostfile(*text);
  if (!hosts) return of_file(hosts.error(), file);
  std::vector<RouteMachine> out;
  for (const codec::Host& host : *hosts) out.push_back({host.name, {host.name}, {}});
  return out;
}

Result<RouteInputs> read_route_inputs(const RouteInputFlags& flags) {
  if (auto good = check_usage(flags); !good) return std::move(good).error();
  RouteInputs out;
  auto read = flags.pods.empty() ? read_hosts(flags, out) : read_job(flags, out);
  if (!read) return std::move(read).error();
  if (!flags.network.empty()) {
    auto network = read_route_network(flags.network, flags.import, out.warnings);
    if (!network) return std::move(network).error();
    out.network = *std::move(network);
    add_super_pods(out);
  }
  if (!flags.previous.empty()) {
    const auto text = read_input(flags.previous, limits::kMaxRankTableBytes);
    if (!text) return text.error();
    auto table = codec::read_job_table(*text);
    if (!table) return of_file(std::move(table).error(), flags.previous);
    out.previous = *std::move(table);
  }
  return out;
}

}  // namespace chipweave::cli
