#include "common/domain/ranktable/assembly/mindie_table.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/domain/ranktable/assembly/member_checks.hpp"

namespace chipweave::domain::ranktable {
namespace {

Result<void> check_labels(const MindieDeployment& deployment) {
  const auto any = [&](Text MindieServerJob::*label) {
    return std::find_if(deployment.servers.begin(), deployment.servers.end(),
                        [&](const auto& job) { return (job.*label).has_value(); });
  };
  const auto group = any(&MindieServerJob::group_deploys);
  const auto server = any(&MindieServerJob::server_deploys);
  const auto none = deployment.servers.end();
  if (group == none || server == none) return {};
  return make_error(Errc::conflict, "job " + group->name +
                                        " has the label grt-group/deploy-server, and job " +
                                        server->name + " has grt-server/deploy-server");
}

// A coordinator or a controller.
Group group_of_one(const char* id, const Member& member) {
  Group out;
  out.id = id;
  out.count = 1;
  Server& server = out.servers.emplace_back();
  server.server_id = member.host_ip;
  server.server_ip = member.pod_ip;
  return out;
}

void add_text(Server& server, const char* name, const std::string& value) {
  const std::string after = server.extras.empty() ? "device" : server.extras.back().name;
  server.extras.push_back({after, name, JsonWriter().string(value).take()});
}

Group group_of(const MindieServerJob& job, const std::string& id, bool super_pods) {
  Group out;
  out.id = id;
  out.count = static_cast<std::int64_t>(job.members.size());
  out.deploy_server = job.group_deploys;
  std::int64_t rank = 0;
  std::map<std::string_view, std::size_t> known;  // the position of each super pod
  std::vector<ServerSet> sets;
  for (const auto& member : job.members) {
    Server& server = out.servers.emplace_back();
    server.server_id = member->host_ip;
    server.server_ip = member->pod_ip;
    server.lists_devices = true;
    std::int64_t logical = 0;
    for (const MemberDevice& device : member->devices) {
      Device& to = server.devices.emplace_back();
      to.device_id = device.device_id;
      to.device_ip = device.ip;
      to.logical_id = logical++;
      to.rank_id = rank++;
      if (super_pods) to.super_device_id = device.super_device_id;
    }
    if (!member->hardware.empty()) add_text(server, "hardware_type", member->hardware);
    if (job.server_deploys) add_text(server, "deploy_server", *job.server_deploys);
    if (!super_pods) continue;
    const auto [at, fresh] = known.try_emplace(member->super_pod, sets.size());
    if (fresh) sets.emplace_back().id = member->super_pod;
    std::vector<ServerName>& names = sets[at->second].servers;
    const bool there = std::any_of(names.begin(), names.end(), [&](const ServerName& name) {
      return name.server_id == server.server_id;
    });
    if (!there) names.emplace_back().server_id = server.server_id;
  }
  if (super_pods) out.super_pods = std::move(sets);
  return out;
}

}  // namespace

Result<MindieTable> make_mindie_table(const MindieDeployment& deployment) {
  if (auto labels = check_labels(deployment); !labels) return std::move(labels).error();
  MindieTable out;
  const auto require_one = [&](const std::optional<Member>& member, const char* what) {
    if (!member) return out.missing.push_back(std::string("the pod of the ") + what);
    MemberNeeds needs;
    needs.devices = false;
    add_missing(*member, needs, out.missing);
  };
  require_one(deployment.coordinator, "coordinator");
  require_one(deployment.controller, "controller");
  if (deployment.servers.empty()) out.missing.emplace_back("a server job");
  std::vector<const Member*> all;
  for (const MindieServerJob& job : deployment.servers) {
    if (job.members.empty()) out.missing.push_back("the pods of job " + job.name);
    for (std::size_t rank = 0; rank < job.members.size(); ++rank) {
      const auto& member = job.members[rank];
      if (!member) {
        out.missing.push_back("the pod of rank " + std::to_string(rank) + " of job " + job.name);
        continue;
      }
      add_missing(*member, {true, true, deployment.super_pods, false}, out.missing);
      all.push_back(&*member);
    }
  }
  if (!out.missing.empty()) return out;
  if (auto distinct = check_distinct(all); !distinct) return std::move(distinct).error();
  out.table = completed_table(Dialect::mindie_global);
  if (deployment.super_pods) out.table.version = "1.2";
  out.table.groups.push_back(group_of_one("0", *deployment.coordinator));
  out.table.groups.push_back(group_of_one("1", *deployment.controller));
  for (const MindieServerJob& job : deployment.servers)
    out.table.groups.push_back(
        group_of(job, std::to_string(out.table.groups.size()), deployment.super_pods));
  return out;
}

}  // namespace chipweave::domain::ranktable
