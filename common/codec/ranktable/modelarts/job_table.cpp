#include "common/codec/ranktable/modelarts/job_table.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/ranktable/rank_table.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

using domain::ranktable::Device;
using domain::ranktable::RankTable;
using domain::ranktable::Server;
using domain::ranktable::ServerSet;
using Servers = std::vector<Server>;
using DeviceKey = std::pair<std::string, std::int64_t>;  // server_id, device_id
using Ranks = std::map<DeviceKey, std::int64_t>;

constexpr const char* kCompleted = "completed";
constexpr const char* kInitializing = "initializing";

std::int64_t number(const std::string& digits) { return std::stoll(digits); }  // ten at most

DeviceKey key_of(const Server& server, const Device& device) {
  return {server.server_id.value_or(""), device.device_id.value_or(-1)};
}

void keep_text(Device& device, const char* name, const std::string& value) {
  std::string json;
  append_json_string(json, value);
  device.extras.push_back({"rank_id", name, std::move(json)});
}

Device device_of(const RouteDevice& from, const JobTableOptions& options) {
  Device out;
  out.device_id = number(from.id);
  out.device_ip = from.ip;
  if (options.switches && !from.tor_ip.empty()) {
    keep_text(out, "tor_ip", from.tor_ip);
    keep_text(out, "tor_port", from.tor_port);
  }
  return out;
}

RankTable table_of(Servers servers) {
  RankTable out = completed_table(domain::ranktable::Dialect::modelarts_1980);
  out.count = static_cast<std::int64_t>(servers.size());
  out.groups.emplace_back().servers = std::move(servers);
  return out;
}

// One server per machine, with the devices of all its pods.
Result<Servers> merged(const JobPods& job, const JobTableOptions& options, bool super_pods) {
  Servers out;
  std::unordered_map<std::string, std::size_t> by_id;
  std::map<DeviceKey, const JobPod*> owner;
  for (const JobPod& pod : job.pods) {
    const auto [at, fresh] = by_id.try_emplace(pod.report->server_id, out.size());
    if (fresh) {
      out.emplace_back().server_id = pod.report->server_id;
      out.back().lists_devices = true;
    }
    Server& server = out[at->second];
    for (const RouteDevice& reported : pod.report->devices) {
      Device device = device_of(reported, options);
      if (super_pods) device.super_device_id = number(reported.super_device_id);
      const auto [first, new_device] = owner.try_emplace(key_of(server, device), &pod);
      if (!new_device) {
        return network_error("pods " + first->second->name + " and " + pod.name +
                             " both report device " + reported.id + " of server " +
                             quoted_excerpt(pod.report->server_id));
      }
      if (owner.size() > kMaxTableDevices) {
        return make_error(Errc::limit_exceeded, concat("more than ", kMaxTableDevices, " devices"));
      }
      server.devices.push_back(std::move(device));
    }
  }
  for (Server& server : out) {
    std::sort(server.devices.begin(), server.devices.end(),
              [](const Device& a, const Device& b) { return a.device_id < b.device_id; });
  }
  return out;
}

// The previous ranks of devices that are still present, if below `total`. If two devices had the
// same rank, the first keeps it.
Ranks kept_ranks(const RankTable& table, const RankTable* previous, std::int64_t total) {
  Ranks out;
  if (previous == nullptr) return out;
  std::set<DeviceKey> present;
  std::set<std::int64_t> given;
  for (const Server* server : table.servers()) {
    for (const Device& device : server->devices) present.insert(key_of(*server, device));
  }
  for (const Server* server : previous->servers()) {
    for (const Device& device : server->devices) {
      const DeviceKey key = key_of(*server, device);
      const std::int64_t rank = device.rank_id.value_or(-1);
      const bool usable = rank >= 0 && rank < total && present.contains(key) && !out.contains(key);
      if (usable && given.insert(rank).second) out.emplace(key, rank);
    }
  }
  return out;
}

void give_ranks(RankTable& table, const RankTable* previous) {
  const auto total = static_cast<std::int64_t>(table.rank_count());
  const Ranks kept = kept_ranks(table, previous, total);
  std::set<std::int64_t> used;
  for (const auto& [key, rank] : kept) used.insert(rank);
  std::int64_t next = 0;
  for (Server& server : table.groups.front().servers) {
    for (Device& device : server.devices) {
      const auto old = kept.find(key_of(server, device));
      if (old == kept.end()) {
        while (used.contains(next)) ++next;
      }
      device.rank_id = old != kept.end() ? old->second : next++;
    }
  }
}

// The first thing that version 1.2 lacks; "" if nothing.
std::string misses_super_pods(const JobPods& job) {
  for (const JobPod& pod : job.pods) {
    if (pod.super_pod.empty()) return "pod " + pod.name + " has no super pod";
    for (const RouteDevice& device : pod.report->devices) {
      if (device.super_device_id.empty())
        return "device " + device.id + " of pod " + pod.name + " has no super_device_id";
    }
  }
  return "";
}

// Machines of one super pod are adjacent, as readers of version 1.2 expect; super pods in the
// order of their first pod. Errors: one machine in two super pods.
Result<void> group_by_super_pod(const JobPods& job, RankTable& table) {
  std::vector<ServerSet>& sets = table.super_pods.emplace();
  std::unordered_map<std::string, std::size_t> of_server;
  std::unordered_map<std::string, std::size_t> by_id;
  for (const JobPod& pod : job.pods) {
    const auto [set, new_set] = by_id.try_emplace(pod.super_pod, sets.size());
    if (new_set) sets.emplace_back().id = pod.super_pod;
    const std::string& server = pod.report->server_id;
    const auto [at, fresh] = of_server.try_emplace(server, set->second);
    if (!fresh && at->second != set->second) {
      return network_error("pods on server " + quoted_excerpt(server) +
                           " are in different super pods");
    }
    if (fresh) sets[at->second].servers.emplace_back().server_id = server;
  }
  Servers& servers = table.groups.front().servers;
  std::stable_sort(servers.begin(), servers.end(), [&](const Server& a, const Server& b) {
    return of_server.at(*a.server_id) < of_server.at(*b.server_id);
  });
  return {};
}

// The table of switches: the pods' own devices with the ranks from the table of machines. Its
// readers do not know super_device_id.
RankTable tors_of(const JobPods& job, const JobTableOptions& options, const RankTable& ranks) {
  Ranks ranked;
  for (const Server* server : ranks.servers()) {
    for (const Device& device : server->devices)
      ranked.emplace(key_of(*server, device), device.rank_id.value_or(-1));
  }
  Servers servers;
  for (const JobPod& pod : job.pods) {
    Server& server = servers.emplace_back();
    server.pod_name = pod.name;
    server.server_id = pod.report->server_id;
    server.lists_devices = true;
    for (const RouteDevice& reported : pod.report->devices) {
      Device& device = server.devices.emplace_back(device_of(reported, options));
      device.rank_id = ranked.at(key_of(server, device));
    }
  }
  return table_of(std::move(servers));
}

JobTables waiting(const RankTable* previous) {
  JobTables out{previous != nullptr ? *previous : table_of({}), table_of({})};
  out.ranks.status = kInitializing;
  out.tors.status = kInitializing;
  return out;
}

// {"status":"initializing"}: the table is not written yet.
bool is_placeholder(const JsonTree& tree) {
  const auto status = tree.member(tree.root(), "status");
  return status != JsonTree::kNone && tree.text(status) == kInitializing &&
         tree.member(tree.root(), "server_list") == JsonTree::kNone;
}

}  // namespace

Result<JobTables> make_job_tables(const JobPods& job, const JobTableOptions& options,
                                  const RankTable* previous) {
  if (!job.complete()) return waiting(previous);
  const std::string misses = misses_super_pods(job);
  if (options.hyperjob && !misses.empty()) {
    return network_error("--hyperjob requires super pods: " + misses);
  }
  Result<Servers> servers = merged(job, options, misses.empty());
  if (!servers) return std::move(servers).error();
  JobTables out;
  out.ranks = table_of(*std::move(servers));
  if (misses.empty()) {
    out.ranks.version = "1.2";
    if (auto done = group_by_super_pod(job, out.ranks); !done) return std::move(done).error();
  }
  give_ranks(out.ranks, previous);
  out.tors = tors_of(job, options, out.ranks);
  return out;
}

bool is_completed(const RankTable& table) { return table.status == kCompleted; }

Result<RankTable> read_job_table(std::string_view text) {
  const auto parsed = JsonTree::parse(std::string(text));
  if (const auto* tree = std::get_if<JsonTree>(&parsed)) {
    if (tree->is(tree->root(), JsonTree::Kind::object) && is_placeholder(*tree))
      return waiting(nullptr).ranks;
  }
  Result<RankTable> out =
      ranktable::parse_table(std::string(text), {domain::ranktable::Dialect::modelarts_1980});
  if (!out) return out;
  if (out->status != kCompleted && out->status != kInitializing) {
    return network_error("unknown status " + quoted_excerpt(out->status.value_or("")) +
                         "; known: completed, initializing");
  }
  if (out->groups.size() != 1) return network_error("server_list is missing");
  if (is_completed(*out) && out->groups.front().servers.empty())
    return network_error("server_list must not be empty in a completed table");
  return out;
}

}  // namespace chipweave::codec
