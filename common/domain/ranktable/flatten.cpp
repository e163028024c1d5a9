#include "common/domain/ranktable/flatten.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/near_names.hpp"
#include "common/base/text.hpp"

namespace chipweave::domain::ranktable {
namespace {

template <class... Parts>
Error flatten_error(const Parts&... parts) {
  return make_error(Errc::invalid_argument, concat(parts...));
}

// Entries of one host become one, in the order of their first.
std::vector<Server> merged_by_host(std::vector<Server> servers) {
  std::vector<Server> out;
  std::map<std::string, std::size_t> at;
  for (Server& server : servers) {
    const auto [found, is_new] = at.emplace(server.server_id.value_or(""), out.size());
    if (is_new) {
      out.push_back(std::move(server));
      continue;
    }
    std::vector<Device>& devices = out[found->second].devices;
    devices.insert(devices.end(), std::make_move_iterator(server.devices.begin()),
                   std::make_move_iterator(server.devices.end()));
  }
  return out;
}

// By server_id as text, then device_id: what HCCL does with a template without ranks.
void number_by_text(std::vector<Server>& servers) {
  std::vector<Server*> order;
  order.reserve(servers.size());
  for (Server& server : servers) order.push_back(&server);
  std::stable_sort(order.begin(), order.end(),
                   [](const Server* a, const Server* b) { return a->server_id < b->server_id; });
  std::int64_t next = 0;
  for (Server* server : order) {
    std::stable_sort(server->devices.begin(), server->devices.end(),
                     [](const Device& a, const Device& b) { return a.device_id < b.device_id; });
    for (Device& device : server->devices) device.rank_id = next++;
  }
}

Result<std::vector<Server>> of_template(const RankTable& table) {
  std::vector<Server> servers;
  bool ranked = false;
  for (const Server* instance : table.servers()) {
    Server& server = servers.emplace_back(*instance);
    if (!server.rank_id) continue;
    ranked = true;
    if (server.devices.size() != 1) {
      return flatten_error("an instance of the lab's template has ", server.devices.size(),
                           " devices and one rank");
    }
    server.devices.front().rank_id = std::exchange(server.rank_id, std::nullopt);
  }
  servers = merged_by_host(std::move(servers));
  if (!ranked) number_by_text(servers);
  return servers;
}

Result<std::vector<Server>> of_modelarts(const RankTable& table, const JobChoice& choice) {
  std::vector<const Server*> instances = table.servers();
  std::erase_if(instances, [](const Server* server) { return !server->lists_devices; });
  if (!choice.instance && instances.size() != 1) {
    return flatten_error("the table has ", instances.size(),
                         " instances; add --instance to choose one, 0 to ",
                         instances.empty() ? 0 : instances.size() - 1);
  }
  const std::int64_t wanted = choice.instance.value_or(0);
  if (wanted < 0 || static_cast<std::size_t>(wanted) >= instances.size()) {
    return flatten_error("must be 0 to ", std::max<std::size_t>(instances.size(), 1) - 1, ", got ",
                         wanted)
        .in("--instance");
  }
  return std::vector<Server>{*instances[static_cast<std::size_t>(wanted)]};
}

Error no_group(const RankTable& table, const JobChoice& choice) {
  if (!choice.group) return flatten_error("the table has no group with devices");
  std::vector<std::string_view> known;
  for (const Group& group : table.groups) {
    if (group.id) known.emplace_back(*group.id);
  }
  return flatten_error(unknown_name("group", *choice.group, known)).in("--group");
}

Result<std::vector<Server>> of_mindie(const RankTable& table, const JobChoice& choice) {
  const Group* found = nullptr;
  std::size_t with_devices = 0;
  for (const Group& group : table.groups) {
    const bool serves = std::any_of(group.servers.begin(), group.servers.end(),
                                    [](const Server& server) { return server.lists_devices; });
    with_devices += serves ? 1 : 0;
    if (choice.group ? group.id == choice.group : serves) found = &group;
  }
  if (found == nullptr) return no_group(table, choice);
  if (!choice.group && with_devices > 1) {
    return flatten_error("the table has ", with_devices,
                         " groups of servers, each of them a job; add --group ID to choose one");
  }
  return merged_by_host(found->servers);
}

std::vector<Server> of_vllm(const RankTable& table) {
  std::vector<Server> servers;
  std::int64_t next = 0;
  for (const Server* server : table.servers()) {
    for (Device& device : servers.emplace_back(*server).devices) device.rank_id = next++;
  }
  return merged_by_host(std::move(servers));
}

Result<std::vector<Server>> servers_of(const RankTable& table, const JobChoice& choice) {
  switch (table.dialect) {
    case Dialect::hccl_2_0:
    case Dialect::hccl_2_0_prerelease:
      return make_error(Errc::unsupported, "a 2.0 table names network instances, not hosts");
    case Dialect::llm_datadist:
      return make_error(Errc::unsupported,
                        "a local communication resource describes one device and has no ranks");
    case Dialect::modelarts_global:
      return of_modelarts(table, choice);
    case Dialect::mindie_global:
      return of_mindie(table, choice);
    case Dialect::vllm_ascend:
      return of_vllm(table);
    default:
      break;
  }
  if (table.groups.size() > 1 || table.dialect == Dialect::group_list) return of_template(table);
  if (table.groups.empty()) return flatten_error("the table has no servers");
  return table.groups.front().servers;
}

Result<void> check_ranks(const std::vector<Server>& servers) {
  std::set<std::int64_t> seen;
  for (const Server& server : servers) {
    for (const Device& device : server.devices) {
      const std::string where = "server " + server.server_id.value_or("?") + ", device " +
                                (device.device_id ? std::to_string(*device.device_id) : "?");
      if (!device.rank_id) return flatten_error(where + " has no rank");
      if (!seen.insert(*device.rank_id).second) {
        return flatten_error(where, " has rank ", *device.rank_id,
                             ", which another device has too; see 'chipweave ranktable lint'");
      }
    }
  }
  if (seen.empty()) return flatten_error("the table has no devices");
  return {};
}

}  // namespace

Result<FlatJob> flatten(const RankTable& table, const JobChoice& choice) {
  auto servers = servers_of(table, choice);
  if (!servers) return std::move(servers).error();
  const auto checked = check_ranks(*servers);
  if (!checked) return checked.error();
  FlatJob out;
  for (Server& server : *servers) {
    std::stable_sort(server.devices.begin(), server.devices.end(),
                     [](const Device& a, const Device& b) { return a.rank_id < b.rank_id; });
    if (!server.devices.empty()) out.servers.push_back(std::move(server));
  }
  if (table.dialect == Dialect::vllm_ascend) {
    out.losses.emplace_back("cluster_id, and which devices prefill and which decode");
  }
  return out;
}

}  // namespace chipweave::domain::ranktable
