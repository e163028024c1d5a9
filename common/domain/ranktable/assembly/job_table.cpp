#include "common/domain/ranktable/assembly/job_table.hpp"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "common/domain/ranktable/assembly/member_checks.hpp"

namespace chipweave::domain::ranktable {
namespace {

constexpr const char* kRoce = "ROCE";
constexpr const char* kUboe = "UBOE";
constexpr const char* kUbg = "UBG";

using Members = std::span<const std::optional<Member>>;

class Assembly {
 public:
  Assembly(Members members, const JobTableForm& form) : form_(form) {
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
      if (members[rank]) {
        members_.push_back(*members[rank]);
        if (form.pods_of_super_pod > 0)
          members_.back().super_pod =
              std::to_string(static_cast<std::int64_t>(rank) / form.pods_of_super_pod);
      } else {
        missing_.push_back("the pod of rank " + std::to_string(rank));
      }
    }
  }

  Result<JobTable> run() {
    std::vector<const Member*> all;
    all.reserve(members_.size());
    const MemberNeeds needed = needs();
    for (const Member& member : members_) {
      add_missing(member, needed, missing_);
      all.push_back(&member);
    }
    JobTable out;
    out.missing = std::move(missing_);
    if (!out.missing.empty()) return out;
    if (auto distinct = check_distinct(all); !distinct) return std::move(distinct).error();
    out.table = form_.dialect == Dialect::hccl_2_0 ? layered() : by_server();
    return out;
  }

 private:
  bool super_pods() const { return form_.dialect == Dialect::hccl_1_2; }

  MemberNeeds needs() const {
    std::set<std::string_view> places;  // beyond one of which devices talk by their NICs
    for (const Member& member : members_)
      places.insert(super_pods() ? member.super_pod : member.host_ip);
    return {true, places.size() > 1, super_pods(), form_.dialect == Dialect::hccl_2_0};
  }

  const std::string& server_of(const Member& member) const {
    return form_.names == ServerNames::host_ip ? member.host_ip : member.uid;
  }

  RankTable by_server() const {
    RankTable out = completed_table(form_.dialect);
    if (super_pods()) out.version = "1.2";
    Group group;
    std::map<std::string_view, std::size_t> known;  // the position of each server
    std::int64_t rank = 0;
    for (const Member& member : members_) {
      const auto [at, fresh] = known.try_emplace(server_of(member), group.servers.size());
      if (fresh) {
        Server& server = group.servers.emplace_back();
        server.server_id = server_of(member);
        server.host_ip = member.host_ip;
        server.container_ip = member.pod_ip;
        server.lists_devices = true;
      } else {
        group.servers[at->second].container_ip.reset();  // it has several
      }
      for (const MemberDevice& device : member.devices) {
        Device& to = group.servers[at->second].devices.emplace_back();
        to.device_id = device.device_id;
        if (!device.ip.empty()) to.device_ip = device.ip;
        to.rank_id = rank++;
        if (super_pods()) to.super_device_id = device.super_device_id;
      }
    }
    out.count = static_cast<std::int64_t>(group.servers.size());
    out.groups.push_back(std::move(group));
    if (super_pods()) out.super_pods = sets_of_servers();
    return out;
  }

  std::vector<ServerSet> sets_of_servers() const {
    std::vector<ServerSet> out;
    std::map<std::string_view, std::size_t> known;  // the position of each super pod
    std::set<std::string_view> servers;
    for (const Member& member : members_) {
      const auto [at, fresh] = known.try_emplace(member.super_pod, out.size());
      if (fresh) out.emplace_back().id = member.super_pod;
      if (servers.insert(server_of(member)).second)
        out[at->second].servers.emplace_back().server_id = server_of(member);
    }
    return out;
  }

  // As MindCluster's operator chooses; UBOE means both of its kinds. "": none.
  std::string scale_out() const {
    std::set<std::string_view> there;
    for (const Member& member : members_) {
      for (const MemberDevice& device : member.devices) {
        for (const ScaleOut& one : device.outer) there.insert(one.type);
      }
    }
    for (const char* type : {kRoce, kUboe, kUbg}) {
      const bool wanted = form_.scale_out.empty() || form_.scale_out == type ||
                          (form_.scale_out == kUboe && type == kUbg);
      if (wanted && there.contains(type)) return type;
    }
    return form_.scale_out;
  }

  // What a device lacks is there without addresses, as the operator has it.
  static NetLayer outer_layer(const MemberDevice& device, const std::string& type) {
    for (const ScaleOut& one : device.outer) {
      if (one.type == type) return one.layer;
    }
    NetLayer out;
    out.layer = type == kRoce ? 3 : 2;
    out.instance_id = "CLUSTER1";
    out.type = "CLOS";
    out.attributes = "";
    return out;
  }

  RankTable layered() const {
    const std::string outer = scale_out();
    RankTable out = completed_table(form_.dialect);
    out.version = "2.0";
    std::int64_t rank = 0;
    for (const Member& member : members_) {
      for (const MemberDevice& device : member.devices) {
        LayeredRank& to = out.ranks.emplace_back();
        to.rank_id = rank++;
        to.local_id = to.device_id = device.device_id;
        to.layers = device.layers;
        if (!outer.empty()) to.layers.push_back(outer_layer(device, outer));
      }
    }
    out.count = rank;
    return out;
  }

  const JobTableForm& form_;
  std::vector<Member> members_;
  std::vector<std::string> missing_;
};

}  // namespace

Result<JobTable> make_job_table(Members members, const JobTableForm& form) {
  const bool known = form.dialect == Dialect::hccl_1_0 || form.dialect == Dialect::hccl_1_2 ||
                     form.dialect == Dialect::hccl_2_0;
  if (!known || members.empty())
    return make_error(Errc::invalid_argument,
                      "the table of a job is HCCL 1.0, 1.2 or 2.0, and has pods");
  return Assembly(members, form).run();
}

}  // namespace chipweave::domain::ranktable
