#include "common/domain/ranktable/convert.hpp"

#include <algorithm>
#include <utility>

#include "common/base/ip_address.hpp"
#include "common/base/text.hpp"
#include "common/domain/ranktable/flatten.hpp"
#include "common/domain/ranktable/sdid.hpp"

namespace chipweave::domain::ranktable {
namespace {

constexpr const char* kCompleted = "completed";

template <class... Parts>
Error convert_error(const Parts&... parts) {
  return make_error(Errc::invalid_argument, concat(parts...));
}

std::string name_of(const Server& server) { return server.server_id.value_or("?"); }
std::string name_of(const Device& device) {
  return "device " + (device.device_id ? std::to_string(*device.device_id) : std::string("?"));
}

// Each kind of loss once.
class Losses {
 public:
  explicit Losses(std::vector<std::string>& out) : out_(out) {}
  void add(const std::string& what) {
    if (std::find(out_.begin(), out_.end(), what) == out_.end()) out_.push_back(what);
  }
  template <class Optional>
  void drop(Optional& value, const std::string& what) {
    if (value) add(what);
    value.reset();
  }

 private:
  std::vector<std::string>& out_;
};

// A table without servers: version, status and unknown members.
RankTable shell(const RankTable& from, Dialect to, const char* version) {
  RankTable out;
  out.dialect = to;
  out.version = version;
  out.status = from.status.value_or(kCompleted);
  out.extras = from.extras;
  return out;
}

// The members of a device that only some dialects have.
void keep_device_members(Device& device, Dialect to, Losses& losses) {
  const bool hccl = to == Dialect::hccl_1_0 || to == Dialect::hccl_1_2 ||
                    to == Dialect::mindie_llm || to == Dialect::mindspore_cluster;
  losses.drop(device.logical_id, "device_logical_id");
  losses.drop(device.cluster_id, "cluster_id");
  device.super_pod_id.reset();
  if (!hccl && to != Dialect::modelarts_local && to != Dialect::modelarts_global) {
    losses.drop(device.device_port, "device_port");
  }
  if (hccl) return;
  losses.drop(device.host_port, "host_port");
  losses.drop(device.vnic_port, "device_vnic_port");
  losses.drop(device.backup_ip, "backup_device_ip");
  losses.drop(device.backup_port, "backup_device_port");
}

void keep_server_members(Server& server, Dialect to, Losses& losses) {
  const bool modelarts = to == Dialect::modelarts_local || to == Dialect::modelarts_global;
  if (to != Dialect::modelarts_1980) losses.drop(server.pod_name, "pod_name");
  if (!modelarts && to != Dialect::modelarts_1980) return;
  if (modelarts) losses.drop(server.host_ip, "host_ip");
  losses.drop(server.container_ip, "container_ip");
  losses.drop(server.pod_ip, "pod_ip");
  if (!modelarts) losses.drop(server.server_ip, "server_ip");
}

// The super pod of that id, a new one if there is none.
ServerSet& pod_named(std::vector<ServerSet>& pods, const std::string& id) {
  const auto pod =
      std::find_if(pods.begin(), pods.end(), [&](const ServerSet& set) { return set.id == id; });
  return pod == pods.end() ? pods.emplace_back(ServerSet{{}, id, {}, {}}) : *pod;
}

// Super pods from the devices of vLLM's table.
std::optional<std::vector<ServerSet>> pods_of_devices(const std::vector<Server>& servers) {
  std::vector<ServerSet> out;
  for (const Server& server : servers) {
    for (const Device& device : server.devices) {
      if (!device.super_pod_id) return std::nullopt;
      std::vector<ServerName>& names = pod_named(out, *device.super_pod_id).servers;
      const bool known = std::any_of(names.begin(), names.end(), [&](const ServerName& name) {
        return name.server_id == server.server_id;
      });
      if (!known) names.push_back({{}, server.server_id, {}});
    }
  }
  return out;
}

Result<std::vector<ServerSet>> pods_of_options(const std::vector<Server>& servers,
                                               const ConvertOptions& options) {
  std::vector<ServerSet> out;
  for (const Server& server : servers) {
    auto given = options.super_pods.find(name_of(server));
    if (given == options.super_pods.end()) given = options.super_pods.find("*");
    if (given == options.super_pods.end()) {
      return convert_error(concat("the super pod of server ", name_of(server),
                                  " is not known; add --super-pod SERVER=POD or --super-pod POD"));
    }
    pod_named(out, given->second).servers.push_back({{}, server.server_id, {}});
  }
  return out;
}

// The server's index, from a vNIC address or the options.
std::optional<std::int64_t> index_of(const Server& server, const Device& device,
                                     const ConvertOptions& options) {
  const auto given = options.server_indices.find(name_of(server));
  if (given != options.server_indices.end()) return given->second;
  const auto ip = device.device_ip ? parse_ip(*device.device_ip) : std::nullopt;
  constexpr int kNoSuperPod = 168;
  if (!ip || !device.device_id || !is_vnic_address(*ip, *device.device_id)) return std::nullopt;
  if (ip->bytes[1] == kNoSuperPod) return std::nullopt;
  return ip->bytes[1];
}

Result<void> fill_sdids(std::vector<Server>& servers, const ConvertOptions& options) {
  constexpr std::int64_t kMaxDevice = 15;
  for (Server& server : servers) {
    for (Device& device : server.devices) {
      if (device.super_device_id) continue;
      const auto index = index_of(server, device, options);
      if (!index || !device.device_id || *device.device_id < 0 || *device.device_id > kMaxDevice) {
        return convert_error(name_of(device), " of server ", name_of(server),
                             " has no super_device_id and no vNIC address to derive it from; add "
                             "--server-index SERVER=N, the server's index in its super pod "
                             "(npu-smi info -t spod-info)");
      }
      device.super_device_id = sdid_of(*index, static_cast<int>(*device.device_id));
    }
  }
  return {};
}

Result<RankTable> to_server_list(const RankTable& from, Dialect to, FlatJob job,
                                 const ConvertOptions& options, Losses& losses) {
  RankTable out = shell(from, to, to == Dialect::hccl_1_2 ? "1.2" : "1.0");
  if (to == Dialect::hccl_1_2) {
    const auto filled = fill_sdids(job.servers, options);
    if (!filled) return filled.error();
    out.super_pods = from.super_pods;
    if (!out.super_pods) out.super_pods = pods_of_devices(job.servers);
    if (!out.super_pods) {
      auto pods = pods_of_options(job.servers, options);
      if (!pods) return std::move(pods).error();
      out.super_pods = *std::move(pods);
    }
  } else if (to != Dialect::modelarts_1980 || from.version == "1.0") {
    auto pods = from.super_pods;
    losses.drop(pods, "super_pod_list");
    for (Server& server : job.servers) {
      for (Device& device : server.devices) losses.drop(device.super_device_id, "super_device_id");
    }
  } else {
    out.super_pods = from.super_pods;
    out.version = from.version;
  }
  if (from.clusters) losses.add("cluster_list");
  for (Server& server : job.servers) {
    if (to == Dialect::mindie_llm && !server.container_ip) {
      return convert_error("server " + name_of(server) +
                           " has no container_ip (the address of its pod), which MindIE-LLM needs");
    }
    keep_server_members(server, to, losses);
    server.lists_devices = true;
    for (Device& device : server.devices) keep_device_members(device, to, losses);
  }
  out.count = static_cast<std::int64_t>(job.servers.size());
  out.groups.emplace_back().servers = std::move(job.servers);
  return out;
}

RankTable local_shell(const RankTable& from) {
  RankTable out = shell(from, Dialect::modelarts_local, "1.0");
  out.group_id = "0";
  out.count = 1;
  return out;
}

// A local table describes one instance; ranks as given.
Result<RankTable> to_local(const RankTable& from, FlatJob job, Losses& losses) {
  if (job.servers.size() != 1) {
    return convert_error("a local table must have one server, but this job has ",
                         job.servers.size());
  }
  RankTable out = local_shell(from);
  Server& server = job.servers.front();
  if (!server.server_ip) server.server_ip = server.host_ip ? server.host_ip : server.server_id;
  if (!server.server_ip || !parse_ip(*server.server_ip)) {
    return convert_error("server " + name_of(server) + " has no server_ip");
  }
  keep_server_members(server, Dialect::modelarts_local, losses);
  for (Device& device : server.devices) {
    losses.drop(device.super_device_id, "super_device_id");
    keep_device_members(device, Dialect::modelarts_local, losses);
    if (!device.device_ip) return convert_error(name_of(device) + " has no device_ip");
  }
  out.groups.emplace_back().servers = std::move(job.servers);
  return out;
}

// One local table an instance, the scheduler's included.
Converted to_locals(const RankTable& from) {
  Converted out;
  for (const Server* server : from.servers()) {
    RankTable& local = out.tables.emplace_back(local_shell(from));
    local.groups.emplace_back().servers.push_back(*server);
  }
  out.losses.emplace_back("which instances prefill and which decode");
  return out;
}

const std::string* pod_of(const RankTable& table, const Server& server) {
  if (!table.super_pods) return nullptr;
  for (const ServerSet& set : *table.super_pods) {
    for (const ServerName& name : set.servers) {
      if (name.server_id == server.server_id && set.id) return &*set.id;
    }
  }
  return nullptr;
}

Result<RankTable> to_vllm(const RankTable& from, const FlatJob& job, const ConvertOptions& options,
                          Losses& losses) {
  std::vector<std::pair<const Server*, const Device*>> by_rank;
  for (const Server& server : job.servers) {
    for (const Device& device : server.devices) by_rank.emplace_back(&server, &device);
  }
  std::stable_sort(by_rank.begin(), by_rank.end(), [](const auto& a, const auto& b) {
    return a.second->rank_id < b.second->rank_id;
  });
  const auto total = static_cast<std::int64_t>(by_rank.size());
  if (!options.prefill_devices) {
    return convert_error(
        "the table does not tell which devices prefill; add --prefill-devices N: the first N ranks "
        "prefill, the others decode");
  }
  if (*options.prefill_devices < 1 || *options.prefill_devices >= total) {
    return convert_error("must be 1 to ", total - 1, " for ", total, " devices")
        .in("--prefill-devices");
  }
  RankTable out = shell(from, Dialect::vllm_ascend, "1.2");
  out.count = static_cast<std::int64_t>(job.servers.size());
  out.groups.resize(2);
  out.groups[0].id = "prefill";
  out.groups[1].id = "decode";
  for (std::int64_t i = 0; i < total; ++i) {
    const auto& [server, device] = by_rank[static_cast<std::size_t>(i)];
    std::vector<Server>& entries = out.groups[i < *options.prefill_devices ? 0 : 1].servers;
    if (entries.empty() || entries.back().server_id != server->server_id) {
      Server& entry = entries.emplace_back();
      entry.server_id = server->server_id;
      entry.lists_devices = true;
    }
    Device copy = *device;
    if (!copy.device_ip)
      return convert_error(name_of(copy) + " of " + name_of(*server) + " has no device_ip");
    if (const std::string* pod = pod_of(from, *server)) copy.super_pod_id = *pod;
    losses.drop(copy.rank_id, "rank_id (the position in the list replaces it)");
    copy.cluster_id = i + 1;
    losses.drop(copy.logical_id, "device_logical_id");
    losses.drop(copy.device_port, "device_port");
    losses.drop(copy.host_port, "host_port");
    losses.drop(copy.backup_ip, "backup_device_ip");
    losses.drop(copy.backup_port, "backup_device_port");
    losses.drop(copy.vnic_port, "device_vnic_port");
    entries.back().devices.push_back(std::move(copy));
  }
  for (const Server& server : job.servers) {
    if (server.host_ip) losses.add("host_ip");
    if (server.container_ip) losses.add("container_ip");
    if (!server.extras.empty()) losses.add("unknown members of servers");
  }
  return out;
}

// The group of ModelArts that a group of MindIE becomes; nullptr: not known.
const char* role_of(const std::string& id, const ConvertOptions& options) {
  const auto is_in = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), id) != list.end();
  };
  if (id == "0") return "0";
  if (is_in(options.prefill_groups)) return "1";
  return is_in(options.decode_groups) ? "2" : nullptr;
}

Result<RankTable> mindie_to_modelarts(const RankTable& from, const ConvertOptions& options,
                                      Losses& losses) {
  RankTable out = shell(from, Dialect::modelarts_global, "1.0");
  out.groups.resize(3);
  for (std::size_t i = 0; i < 3; ++i) out.groups[i].id = std::to_string(i);
  for (const Group& group : from.groups) {
    const std::string id = group.id.value_or("");
    if (id == "1") {
      losses.add("the controller (group 1)");
      continue;
    }
    const char* role = role_of(id, options);
    if (role == nullptr) {
      return convert_error("the table does not tell whether group ", id,
                           " prefills or decodes; add --prefill-groups or --decode-groups");
    }
    for (Server server : group.servers) {
      if (group.super_pods) losses.add("super_pod_list");
      for (Device& device : server.devices) {
        losses.drop(device.super_device_id, "super_device_id");
        losses.drop(device.logical_id, "device_logical_id");
      }
      out.groups[static_cast<std::size_t>(role[0] - '0')].servers.push_back(std::move(server));
    }
  }
  for (Group& group : out.groups) group.count = static_cast<std::int64_t>(group.servers.size());
  return out;
}

// ModelArts' scheduler is MindIE's coordinator; there is no controller in it.
Result<RankTable> modelarts_to_mindie(const RankTable& from, Losses& losses) {
  RankTable out = shell(from, Dialect::mindie_global, "1.0");
  for (const Group& group : from.groups) {
    for (const Server& server : group.servers) {
      Group& to = out.groups.emplace_back();
      to.count = 1;
      to.id = group.id == "0" ? std::string("0") : std::to_string(out.groups.size());
      to.servers.push_back(server);
      std::int64_t logical = 0;
      for (Device& device : to.servers.back().devices) {
        device.logical_id = logical++;
        losses.drop(device.device_port, "device_port");
      }
    }
  }
  losses.add(
      "which instances prefill and which decode; the table needs a controller (group 1) "
      "before MindIE reads it");
  return out;
}

}  // namespace

Result<Converted> convert(const RankTable& table, Dialect to, const ConvertOptions& options) {
  Converted out;
  if (table.dialect == to) {
    out.tables.push_back(table);
    return out;
  }
  Losses losses(out.losses);
  const auto single = [&](Result<RankTable> made) -> Result<Converted> {
    if (!made) return std::move(made).error();
    out.tables.push_back(std::move(made).value());
    return std::move(out);
  };
  if (table.dialect == Dialect::mindie_global && to == Dialect::modelarts_global) {
    return single(mindie_to_modelarts(table, options, losses));
  }
  if (table.dialect == Dialect::modelarts_global && to == Dialect::mindie_global) {
    return single(modelarts_to_mindie(table, losses));
  }
  if (table.dialect == Dialect::modelarts_global && to == Dialect::modelarts_local &&
      !options.instance) {
    return to_locals(table);
  }
  const std::string way = concat("from ", to_string(table.dialect), " to ", to_string(to));
  switch (to) {
    case Dialect::hccl_1_0:
    case Dialect::hccl_1_2:
    case Dialect::mindie_llm:
    case Dialect::modelarts_1980:
    case Dialect::modelarts_local:
    case Dialect::vllm_ascend:
      break;
    case Dialect::hccl_2_0:
      return make_error(Errc::unsupported,
                        way +
                            ": addresses of each layer and the topology file of the hosts are not "
                            "in the table; generate it on the hosts");
    case Dialect::group_list:
    case Dialect::hccl_1_1:
    case Dialect::hccl_2_0_prerelease:
      return make_error(Errc::unsupported, way + ": this form can be read, but not written");
    default:
      return make_error(Errc::unsupported, way + ": the old table lacks what the new one needs");
  }
  auto job = flatten(table, {options.instance, options.group});
  if (!job) return std::move(job).error();
  for (const std::string& loss : job->losses) losses.add(loss);
  if (to == Dialect::vllm_ascend) return single(to_vllm(table, *job, options, losses));
  if (to == Dialect::modelarts_local) return single(to_local(table, *std::move(job), losses));
  return single(to_server_list(table, to, *std::move(job), options, losses));
}

Result<std::vector<RankedHost>> ranked_hosts(const RankTable& table, const JobChoice& choice) {
  const auto job = flatten(table, choice);
  if (!job) return job.error();
  std::vector<RankedHost> out;
  for (const Server& server : job->servers) {
    RankedHost& host = out.emplace_back();
    if (!server.server_id || server.server_id->empty())
      return convert_error("a server has no server_id");
    host.name = *server.server_id;
    for (const Device& device : server.devices) {
      host.ranks.emplace_back(*device.rank_id, device.device_id.value_or(-1));
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const RankedHost& a, const RankedHost& b) {
    return a.ranks.front() < b.ranks.front();
  });
  return out;
}

}  // namespace chipweave::domain::ranktable
