#include "scheduler-plugin/ranktables/job_members.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "common/base/count_of.hpp"
#include "common/base/natural_order.hpp"

namespace chipweave::sched {
namespace {

using domain::ranktable::Dialect;
using domain::ranktable::Member;
using domain::ranktable::MemberDevice;
using Pods = std::vector<const TablePod*>;

MemberDevice device_of(const domain::Chip& chip) {
  MemberDevice out;
  out.device_id = chip.physical_id.value_or(chip.index.value);
  if (!chip.device_ips.empty()) out.ip = chip.device_ips.front();
  if (chip.super_device_id) out.super_device_id = std::int64_t{*chip.super_device_id};
  return out;
}

// The chips that the scheduler chose; none if one of them is not there any more.
std::vector<MemberDevice> chosen_devices(const Decision& decision, const Node& node) {
  std::vector<MemberDevice> out;
  for (const int index : decision.indices) {
    const auto slot = node.topology.slot_of({index});
    if (!slot) return {};
    out.push_back(device_of(node.topology.chip(*slot)));
  }
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a.device_id < b.device_id; });
  return out;
}

using Rank = std::optional<int> TablePod::*;

bool have(const Pods& pods, Rank rank) {
  return std::all_of(pods.begin(), pods.end(),
                     [&](const TablePod* pod) { return (pod->*rank).has_value(); });
}

// "" or which pods have one rank.
std::string order_by(Rank rank, Pods& pods) {
  std::sort(pods.begin(), pods.end(), [&](const TablePod* a, const TablePod* b) {
    return std::pair(a->*rank, a->key) < std::pair(b->*rank, b->key);
  });
  const auto same = std::adjacent_find(
      pods.begin(), pods.end(),
      [&](const TablePod* a, const TablePod* b) { return a->*rank == b->*rank; });
  if (same == pods.end()) return {};
  return "pods " + (*same)->key.name + " and " + (*std::next(same))->key.name + " both have rank " +
         std::to_string(*((*same)->*rank));
}

// Neighbours in the network are neighbours in the order.
void order_by_topology(Pods& pods, const Network& network, KeptRanks& kept) {
  std::map<std::string_view, std::vector<std::string>> paths;
  for (const TablePod* pod : pods) {
    if (!paths.contains(pod->node)) paths.emplace(pod->node, network.path_of(pod->node));
  }
  std::sort(pods.begin(), pods.end(), [&](const TablePod* a, const TablePod* b) {
    const auto& of_a = paths.at(a->node);
    const auto& of_b = paths.at(b->node);
    if (of_a != of_b) {
      return std::lexicographical_compare(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                                          natural_less);
    }
    if (a->node != b->node) return natural_less(a->node, b->node);
    return natural_less(a->key.name, b->key.name);
  });
  std::set<int> free;
  for (std::size_t i = 0; i < pods.size(); ++i) free.insert(static_cast<int>(i));
  KeptRanks now;
  for (const TablePod* pod : pods) {
    const auto before = kept.find(pod->key.name);
    if (before != kept.end() && free.erase(before->second) > 0)
      now.emplace(pod->key.name, before->second);
  }
  for (const TablePod* pod : pods) {
    if (now.contains(pod->key.name)) continue;
    now.emplace(pod->key.name, *free.begin());
    free.erase(free.begin());
  }
  kept = std::move(now);
  std::sort(pods.begin(), pods.end(), [&](const TablePod* a, const TablePod* b) {
    return kept.find(a->key.name)->second < kept.find(b->key.name)->second;
  });
}

bool are_in_super_pods(const std::vector<std::optional<Member>>& members) {
  return std::all_of(members.begin(), members.end(), [](const auto& member) {
    return !member->super_pod.empty() &&
           std::all_of(member->devices.begin(), member->devices.end(),
                       [](const MemberDevice& one) { return one.super_device_id.has_value(); });
  });
}

// What HCCL of these machines reads; docs/reference/rank-tables-of-jobs.md.
domain::ranktable::JobTableForm form_of(const Pods& pods, const JobMembers& of) {
  domain::ranktable::JobTableForm out = of.form;
  const TablePod& first = *pods.front();
  if (first.dialect) {
    out.dialect = *first.dialect;
  } else if (first.a950) {
    out.dialect = Dialect::hccl_2_0;
  } else {
    out.dialect =
        first.sp_block > 0 || are_in_super_pods(of.members) ? Dialect::hccl_1_2 : Dialect::hccl_1_0;
  }
  out.scale_out = first.scale_out;
  if (first.sp_block > 0 && first.chips > 0)
    out.pods_of_super_pod = std::max(1, first.sp_block / first.chips);
  return out;
}

// A job whose pods say different things has no table.
std::string disagreement(const Pods& pods) {
  const TablePod& first = *pods.front();
  for (const TablePod* pod : pods) {
    const auto differs = [&](const char* what) {
      return "pods " + first.key.name + " and " + pod->key.name + " differ in " + what;
    };
    if (!pod->problem.empty()) return "pod " + pod->key.name + ": " + pod->problem;
    if (pod->dialect != first.dialect) return differs(kRankTableMark);
    if (pod->a950 != first.a950) return differs("the kind of their chips");
    if (pod->sp_block != first.sp_block) return differs("sp-block");
    if (pod->scale_out != first.scale_out) return differs("scaleout-type");
  }
  return {};
}

}  // namespace

Presence presence_of(std::size_t there, int expected) {
  Presence out;
  const int pods = static_cast<int>(there);
  if (expected == 0) {
    out.problem =
        "the number of its pods is not known: list its framework in gang-kinds, or give the pods "
        "chipweave.dev/gang-size";
  } else if (pods < expected) {
    out.missing.push_back(std::to_string(expected - pods) + " of " + count_of(expected, "pod"));
  } else if (pods > expected) {
    out.missing.push_back("the end of " + count_of(pods - expected, "pod") + " beyond its " +
                          std::to_string(expected));
  }
  return out;
}

KeptRanks ranks_in(const domain::ranktable::RankTable& table, const Pods& pods,
                   domain::ranktable::ServerNames names, const Scheduler& scheduler) {
  std::map<std::pair<std::string_view, std::int64_t>, std::int64_t> ranks;
  for (const domain::ranktable::Server* server : table.servers()) {
    for (const domain::ranktable::Device& device : server->devices) {
      if (server->server_id && device.device_id && device.rank_id)
        ranks.emplace(std::pair(std::string_view(*server->server_id), *device.device_id),
                      *device.rank_id);
    }
  }
  KeptRanks out;
  for (const TablePod* pod : pods) {
    const Member member = member_of(*pod, scheduler);
    if (member.devices.empty()) continue;
    const std::string& server =
        names == domain::ranktable::ServerNames::host_ip ? member.host_ip : member.uid;
    const auto first = ranks.find({server, member.devices.front().device_id});
    const auto chips = static_cast<std::int64_t>(member.devices.size());
    if (first != ranks.end() && first->second % chips == 0)
      out.emplace(pod->key.name, static_cast<int>(first->second / chips));
  }
  return out;
}

Member member_of(const TablePod& pod, const Scheduler& scheduler) {
  Member out = pod.member;
  if (pod.node.empty()) return out;
  const NodeId id = scheduler.nodes().find(pod.node);
  if (id == kNoNode) return out;
  const Node& node = scheduler.nodes().node(id);
  if (out.devices.empty() && pod.chips > 0) {
    const Decision* decision = scheduler.decision(pod.uid);
    if (decision != nullptr && decision->node == id) out.devices = chosen_devices(*decision, node);
  }
  if (out.super_pod.empty() && node.topology.super_pod())
    out.super_pod = node.topology.super_pod()->id;
  return out;
}

JobMembers members_of(const Pods& pods, int expected, domain::ranktable::ServerNames names,
                      const Scheduler& scheduler, KeptRanks& kept) {
  JobMembers out;
  out.form.names = names;
  Presence presence = presence_of(pods.size(), expected);
  out.missing = std::move(presence.missing);
  out.problem = std::move(presence.problem);
  if (!out.missing.empty() || !out.problem.empty()) return out;
  Pods ranked;
  for (const TablePod* pod : pods) {
    if (pod->chips > 0) ranked.push_back(pod);
  }
  if (ranked.empty()) return out;
  out.problem = disagreement(ranked);
  if (!out.problem.empty()) return out;
  for (const TablePod* pod : ranked) {
    if (pod->node.empty()) out.missing.push_back("pod " + pod->key.name + ": its node");
  }
  if (!out.missing.empty()) return out;
  if (have(ranked, &TablePod::planned_rank)) {
    out.problem = order_by(&TablePod::planned_rank, ranked);
  } else if (have(ranked, &TablePod::framework_rank)) {
    out.problem = order_by(&TablePod::framework_rank, ranked);
  } else {
    order_by_topology(ranked, scheduler.network(), kept);
  }
  if (!out.problem.empty()) return out;
  for (const TablePod* pod : ranked) {
    out.members.emplace_back(member_of(*pod, scheduler));
    const auto devices = out.members.back()->devices.size();
    if (devices > 0 && devices != static_cast<std::size_t>(pod->chips))
      out.missing.push_back("pod " + pod->key.name + ": its devices, " + std::to_string(devices) +
                            " of which are known and " + std::to_string(pod->chips) + " requested");
  }
  out.form = form_of(ranked, out);
  return out;
}

}  // namespace chipweave::sched
