#include "common/codec/modelarts/job_table.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "common/base/natural_order.hpp"
#include "common/codec/modelarts/device_json.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/topology/text_quote.hpp"

namespace chipweave::codec {
namespace {

using DeviceKey = std::pair<std::string, std::string>;  // server_id, device_id
using Ranks = std::map<DeviceKey, std::size_t>;

// A server for each machine, with the devices of all its pods.
Result<std::vector<TableServer>> merged(const JobPods& job) {
  std::vector<TableServer> out;
  std::unordered_map<std::string, std::size_t> by_id;
  std::map<DeviceKey, const JobPod*> owner;
  for (const JobPod& pod : job.pods) {
    const std::string& id = pod.report->server_id;
    const auto [at, fresh] = by_id.try_emplace(id, out.size());
    if (fresh) out.push_back({"", id, {}});
    for (const RouteDevice& device : pod.report->devices) {
      const auto [first, new_device] = owner.try_emplace({id, device.id}, &pod);
      if (!new_device) {
        return network_error("pods " + first->second->name + " and " + pod.name +
                             " both report device " + device.id + " of server " +
                             quoted_excerpt(id));
      }
      if (owner.size() > kMaxTableDevices) {
        return make_error(Errc::limit_exceeded,
                          "more than " + std::to_string(kMaxTableDevices) + " devices");
      }
      out[at->second].devices.push_back(device);
    }
  }
  for (TableServer& server : out) {
    std::sort(server.devices.begin(), server.devices.end(),
              [](const RouteDevice& a, const RouteDevice& b) { return natural_less(a.id, b.id); });
  }
  return out;
}

std::size_t device_count(const std::vector<TableServer>& servers) {
  std::size_t out = 0;
  for (const TableServer& server : servers) out += server.devices.size();
  return out;
}

// What the devices that are still there had, as far as ranks of `total` devices can be that.
Ranks kept_ranks(const std::vector<TableServer>& servers, const JobTable* previous,
                 std::size_t total) {
  Ranks out;
  if (previous == nullptr) return out;
  std::set<DeviceKey> present;
  for (const TableServer& server : servers) {
    for (const RouteDevice& device : server.devices) present.emplace(server.server_id, device.id);
  }
  for (const TableServer& server : previous->servers) {
    for (const RouteDevice& device : server.devices) {
      const DeviceKey key{server.server_id, device.id};
      if (!is_plain_number(device.rank_id) || !present.contains(key)) continue;
      const std::size_t rank = std::stoul(device.rank_id);  // nine digits at most
      if (rank < total) out.emplace(key, rank);
    }
  }
  return out;
}

void give_ranks(std::vector<TableServer>& servers, const JobTable* previous) {
  const std::size_t total = device_count(servers);
  const Ranks kept = kept_ranks(servers, previous, total);
  std::vector<bool> used(total, false);
  for (const auto& [key, rank] : kept) used[rank] = true;
  std::size_t next = 0;
  for (TableServer& server : servers) {
    for (RouteDevice& device : server.devices) {
      const auto old = kept.find({server.server_id, device.id});
      if (old != kept.end()) {
        device.rank_id = std::to_string(old->second);
        continue;
      }
      while (used[next]) ++next;
      device.rank_id = std::to_string(next++);
    }
  }
}

// The first that stands in the way of version 1.2; "" if nothing does.
std::string misses_super_pods(const JobPods& job) {
  for (const JobPod& pod : job.pods) {
    if (pod.super_pod.empty()) return "pod " + pod.name + " says no super pod";
    for (const RouteDevice& device : pod.report->devices) {
      if (device.super_device_id.empty())
        return "device " + device.id + " of pod " + pod.name + " has no super_device_id";
    }
  }
  return "";
}

// Machines of one super pod stand together, as readers of version 1.2 want them; super pods in the
// order of their first pod. Errors: one machine in two super pods.
Result<void> group_by_super_pod(const JobPods& job, JobTable& table) {
  std::unordered_map<std::string, std::size_t> of_server;
  std::unordered_map<std::string, std::size_t> by_id;
  for (const JobPod& pod : job.pods) {
    const auto group = by_id.try_emplace(pod.super_pod, table.super_pods.size());
    if (group.second) table.super_pods.push_back({pod.super_pod, {}});
    const std::string& server = pod.report->server_id;
    const auto [at, fresh] = of_server.try_emplace(server, group.first->second);
    if (!fresh && at->second != group.first->second) {
      return network_error("pods on server " + quoted_excerpt(server) +
                           " say different super pods");
    }
    if (fresh) table.super_pods[at->second].server_ids.push_back(server);
  }
  std::stable_sort(table.servers.begin(), table.servers.end(),
                   [&](const TableServer& a, const TableServer& b) {
                     return of_server.at(a.server_id) < of_server.at(b.server_id);
                   });
  return {};
}

void remove_switches(JobTable& table) {
  for (TableServer& server : table.servers) {
    for (RouteDevice& device : server.devices) {
      device.tor_ip.clear();
      device.tor_port.clear();
    }
  }
}

// The table of switches: the pods' own devices with the ranks that the table of machines gave.
JobTable tors_of(const JobPods& job, const JobTable& ranks) {
  std::map<DeviceKey, const RouteDevice*> ranked;
  for (const TableServer& server : ranks.servers) {
    for (const RouteDevice& device : server.devices)
      ranked.emplace(DeviceKey{server.server_id, device.id}, &device);
  }
  JobTable out;
  out.completed = true;
  for (const JobPod& pod : job.pods) {
    TableServer server{pod.name, pod.report->server_id, pod.report->devices};
    for (RouteDevice& device : server.devices) {
      device.rank_id = ranked.at({server.server_id, device.id})->rank_id;
      device.super_device_id.clear();  // readers of this table do not know it
    }
    out.servers.push_back(std::move(server));
  }
  return out;
}

}  // namespace

Result<JobTables> make_job_tables(const JobPods& job, const JobTableOptions& options,
                                  const JobTable* previous) {
  JobTables out;
  if (!job.complete()) {
    if (previous != nullptr) out.ranks = *previous;
    out.ranks.completed = false;
    return out;
  }
  Result<std::vector<TableServer>> servers = merged(job);
  if (!servers) return std::move(servers).error();
  out.ranks.completed = true;
  out.ranks.servers = *std::move(servers);
  const std::string misses = misses_super_pods(job);
  if (options.hyperjob && !misses.empty()) {
    return network_error("needs super pods, but " + misses).in("--hyperjob");
  }
  if (misses.empty()) {
    out.ranks.version = "1.2";
    if (auto done = group_by_super_pod(job, out.ranks); !done) return std::move(done).error();
  }
  give_ranks(out.ranks.servers, previous);
  out.tors = tors_of(job, out.ranks);
  if (!options.switches) {
    remove_switches(out.ranks);
    remove_switches(out.tors);
  }
  if (misses.empty()) return out;
  for (TableServer& server : out.ranks.servers) {
    for (RouteDevice& device : server.devices) device.super_device_id.clear();
  }
  return out;
}

}  // namespace chipweave::codec
