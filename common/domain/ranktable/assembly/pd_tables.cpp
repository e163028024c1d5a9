#include "common/domain/ranktable/assembly/pd_tables.hpp"

#include <set>
#include <string_view>

#include "common/domain/ranktable/assembly/member_checks.hpp"

namespace chipweave::domain::ranktable {
namespace {

// One instance, whose ranks count from 0.
Server instance_of(const Member& member) {
  Server out;
  out.server_id = member.host_ip;
  out.server_ip = member.host_ip;
  out.lists_devices = !member.devices.empty();
  for (const MemberDevice& device : member.devices) {
    const auto rank = static_cast<std::int64_t>(out.devices.size());
    Device& to = out.devices.emplace_back();
    to.device_id = device.device_id;
    to.device_ip = device.ip;
    to.rank_id = rank;
  }
  return out;
}

void fill_modelarts(const PdDeployment& deployment, PdTables& out) {
  out.table = completed_table(Dialect::modelarts_global);
  const auto add = [&](const char* id, std::span<const Member> members) {
    std::vector<Server> instances;
    for (const Member& member : members) {
      instances.push_back(instance_of(member));
      out.locals.emplace_back(member.pod, local_pd_table(instances.back()));
    }
    out.table.groups.push_back(pd_group(id, std::move(instances)));
  };
  add("0", std::span(&*deployment.scheduler, 1));
  add("1", deployment.prefill);
  add("2", deployment.decode);
}

// Devices are numbered through, those that prefill first.
void fill_vllm(const PdDeployment& deployment, PdTables& out) {
  out.table = completed_table(Dialect::vllm_ascend);
  out.table.version = "1.2";
  std::set<std::string_view> hosts;
  std::int64_t cluster = 0;
  const auto add = [&](const char* id, std::span<const Member> members) {
    Group& group = out.table.groups.emplace_back();
    group.id = id;
    for (const Member& member : members) {
      hosts.insert(member.host_ip);
      Server& server = group.servers.emplace_back();
      server.server_id = member.host_ip;
      server.lists_devices = true;
      for (const MemberDevice& device : member.devices) {
        Device& to = server.devices.emplace_back();
        to.device_id = device.device_id;
        to.device_ip = device.ip;
        to.cluster_id = ++cluster;
        if (member.super_pod.empty() || !device.super_device_id) continue;
        to.super_pod_id = member.super_pod;
        to.super_device_id = device.super_device_id;
      }
    }
  };
  add("prefill", deployment.prefill);
  add("decode", deployment.decode);
  out.table.count = static_cast<std::int64_t>(hosts.size());
}

}  // namespace

Group pd_group(std::string id, std::vector<Server> instances) {
  Group out;
  out.id = std::move(id);
  out.count = static_cast<std::int64_t>(instances.size());
  out.servers = std::move(instances);
  return out;
}

RankTable local_pd_table(const Server& instance) {
  RankTable out = completed_table(Dialect::modelarts_local);
  out.group_id = "0";
  out.count = 1;
  out.groups.emplace_back().servers.push_back(instance);
  return out;
}

Result<PdTables> make_pd_tables(const PdDeployment& deployment) {
  const bool modelarts = deployment.dialect == Dialect::modelarts_global;
  if (!modelarts && deployment.dialect != Dialect::vllm_ascend)
    return make_error(Errc::invalid_argument,
                      "no table of a deployment: " + std::string(to_string(deployment.dialect)));
  PdTables out;
  std::vector<const Member*> all;
  const auto require = [&](const std::vector<Member>& members, const char* role) {
    if (members.empty()) out.missing.push_back(std::string("a pod with the role ") + role);
    for (const Member& member : members) {
      add_missing(member, {true, true, false, false}, out.missing);
      all.push_back(&member);
    }
  };
  if (modelarts && !deployment.scheduler)
    out.missing.emplace_back("the pod with the role scheduler");
  if (modelarts && deployment.scheduler)
    add_missing(*deployment.scheduler, {false, false, false, false}, out.missing);
  require(deployment.prefill, "prefill");
  require(deployment.decode, "decode");
  if (!out.missing.empty()) return out;
  if (auto distinct = check_distinct(all); !distinct) return std::move(distinct).error();
  if (modelarts) {
    fill_modelarts(deployment, out);
  } else {
    fill_vllm(deployment, out);
  }
  return out;
}

}  // namespace chipweave::domain::ranktable
