#include "scheduler-plugin/app/gangs/planning/gang_layout.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "common/base/natural_order.hpp"
#include "scheduler-plugin/model/gangs/gang_mark.hpp"
#include "scheduler-plugin/model/gangs/gang_request.hpp"

namespace chipweave::sched {
namespace {

using Pods = std::vector<const ClusterPod*>;

// Those whose pod has rank 0 by the frameworks' conventions.
bool is_leader(std::string_view role) {
  constexpr std::array<std::string_view, 6> kLeaders{"master",   "chief", "leader",
                                                     "launcher", "head",  "scheduler"};
  return std::any_of(kLeaders.begin(), kLeaders.end(), [&](std::string_view leader) {
    return std::equal(role.begin(), role.end(), leader.begin(), leader.end(),
                      [](char a, char b) { return (a | 0x20) == b; });
  });
}

// Leaders, then the other roles, each by its index.
bool ranks_before(const ClusterPod& a, const ClusterPod& b) {
  const GangMark& x = *a.request.mark;
  const GangMark& y = *b.request.mark;
  if (x.role != y.role) {
    if (is_leader(x.role) != is_leader(y.role)) return is_leader(x.role);
    return natural_less(x.role, y.role);
  }
  if (x.index != y.index) return x.index && (!y.index || *x.index < *y.index);
  return natural_less(a.request.key.name, b.request.key.name);
}

// Without the roles whose pods need no chips, and without pods that need not come and are not
// there.
GangSpec spec_of_chips(const Gang& gang, const GangMembers& members, int chipless) {
  GangSpec spec = gang.spec;
  const auto there = [&](const std::string& role) {
    const auto at = std::find_if(members.roles.begin(), members.roles.end(),
                                 [&](const RoleMembers& one) { return one.role == role; });
    return at == members.roles.end() ? 0 : at->pods;
  };
  std::int64_t without = spec.roles.empty() ? chipless : 0;
  std::erase_if(spec.roles, [&](const RoleSpec& role) {
    const bool none = there(role.name) == 0 && role.chips &&
                      role.chips->find(members.resource) == role.chips->end();
    if (none) without += role.pods.value_or(0);
    return none;
  });
  const auto less = [&](std::optional<int>& number) {
    if (number) number = static_cast<int>(std::max<std::int64_t>(*number - without, 0));
  };
  less(spec.size);
  less(spec.minimum);
  for (RoleSpec& role : spec.roles) {
    if (role.pods && role.minimum && *role.minimum < *role.pods)
      role.pods = std::clamp(there(role.name), *role.minimum, *role.pods);
  }
  int present = 0;
  for (const RoleMembers& role : members.roles) present += role.pods;
  if (spec.size && spec.minimum && *spec.minimum < *spec.size)
    spec.size = std::clamp(present, *spec.minimum, *spec.size);
  return spec;
}

Result<GangMembers> members_of(const Pods& pods) {
  GangMembers out;
  out.resource = pods.front()->request.resource;
  for (const ClusterPod* pod : pods) {
    const PodRequest& request = pod->request;
    if (request.resource != out.resource) {
      return make_error(Errc::invalid_argument, "its pods request " + out.resource + " and " +
                                                    request.resource +
                                                    "; a gang can have one kind of chips only");
    }
    const std::string& role = request.mark->role;
    if (out.roles.empty() || out.roles.back().role != role) {
      out.roles.push_back({role, 1, request.chips, request.mark->topology});
      continue;
    }
    ++out.roles.back().pods;
    if (request.chips == out.roles.back().chips_per_pod) continue;
    return make_error(Errc::invalid_argument,
                      "its pods " + (role.empty() ? "" : "of role " + role + " ") + "request " +
                          std::to_string(out.roles.back().chips_per_pod) + " and " +
                          std::to_string(request.chips) + " chips");
  }
  return out;
}

// What pods of the gang that have not come will say about nodes; not what pins one of the others.
SharedWishes wishes_of_next(const Pods& pods) {
  const auto not_pinned = std::find_if(pods.begin(), pods.end(), [](const ClusterPod* pod) {
    return pod->nodes != nullptr && !domain::named_nodes(*pod->nodes);
  });
  return not_pinned == pods.end() ? nullptr : (*not_pinned)->nodes;
}

// Pods that the framework numbers from 0 have the slot of their number; else they come first.
void add_slots(const RolePods& role, const Pods& pods, std::vector<GangSlot>& to) {
  Pods mine;
  std::set<int> numbers;
  for (const ClusterPod* pod : pods) {
    const GangMark& mark = *pod->request.mark;
    if (mark.role != role.role) continue;
    mine.push_back(pod);
    if (mark.index && *mark.index < role.pods) numbers.insert(*mark.index);
  }
  const bool numbered = !mine.empty() && numbers.size() == mine.size();
  const SharedWishes next = wishes_of_next(mine.empty() ? pods : mine);
  const std::size_t first = to.size();
  to.resize(first + static_cast<std::size_t>(role.pods));
  for (int i = 0; i < role.pods; ++i) {
    GangSlot& slot = to[first + static_cast<std::size_t>(i)];
    slot.role = role.role;
    slot.chips = role.chips_per_pod;
    slot.nodes = next;
    if (numbered) slot.index = i;
  }
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const GangMark& mark = *mine[i]->request.mark;
    GangSlot& slot = to[first + (numbered ? static_cast<std::size_t>(*mark.index) : i)];
    slot.uid = mine[i]->request.uid;
    slot.index = mark.index;
    slot.nodes = mine[i]->nodes;
  }
}

// By pod: its rank among the pods of its role.
std::map<std::string_view, std::size_t> ranks_in_roles(const std::vector<GangSlot>& slots) {
  std::map<std::string_view, std::size_t> out;
  std::size_t first = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].role != slots[first].role) first = i;
    if (!slots[i].uid.empty()) out.emplace(slots[i].uid, i - first);
  }
  return out;
}

void keep_ranks(const std::map<std::string_view, std::size_t>& former, std::span<GangSlot> role) {
  std::vector<GangSlot> from(std::make_move_iterator(role.begin()),
                             std::make_move_iterator(role.end()));
  std::vector<bool> given(role.size(), false);
  std::vector<bool> placed(role.size(), false);
  const auto put = [&](std::size_t slot, std::size_t rank) {
    role[rank] = std::move(from[slot]);
    given[slot] = placed[rank] = true;
  };
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i].index == static_cast<int>(i)) put(i, i);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (given[i]) continue;
    const auto before = former.find(from[i].uid);
    if (before != former.end() && before->second < role.size() && !placed[before->second])
      put(i, before->second);
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (given[i]) continue;
    while (placed[next]) ++next;
    put(i, next);
  }
}

}  // namespace

Result<GangLayout> lay_out(const Gang& gang, Pods pods, int chipless, const Network& network) {
  std::sort(pods.begin(), pods.end(),
            [](const ClusterPod* a, const ClusterPod* b) { return ranks_before(*a, *b); });
  const auto members = members_of(pods);
  if (!members) return members.error();
  const GangSpec spec = spec_of_chips(gang, *members, chipless);
  const auto roles = pods_by_role(spec, *members);
  if (!roles) return roles.error();
  const std::vector<std::string>& levels = network.levels();
  auto request = gang_of(spec, *members, levels,
                         [&](std::string_view name) { return network.level_of(name); });
  if (!request) return std::move(request).error();
  auto vendor = vendor_job_of(spec, *members, *request, levels);
  if (!vendor) return std::move(vendor).error();
  GangLayout out;
  out.resource = members->resource;
  out.request = *std::move(request);
  out.vendor = *std::move(vendor);
  out.request.objective = pods.front()->request.objective;
  for (const RolePods& role : *roles) add_slots(role, pods, out.slots);
  for (const ClusterPod* pod : pods) {
    const solver::Room& needs = pod->request.needs;
    if (!needs.known) continue;
    out.needs.known = true;
    out.needs.cores = std::max(out.needs.cores, needs.cores);
    out.needs.gib = std::max(out.needs.gib, needs.gib);
  }
  return out;
}

std::vector<GangSlot> with_former_ranks(const std::vector<GangSlot>& former,
                                        std::vector<GangSlot> slots) {
  const std::map<std::string_view, std::size_t> ranks = ranks_in_roles(former);
  for (std::size_t first = 0; first < slots.size();) {
    std::size_t end = first;
    while (end < slots.size() && slots[end].role == slots[first].role) ++end;
    keep_ranks(ranks, std::span(slots).subspan(first, end - first));
    first = end;
  }
  return slots;
}

}  // namespace chipweave::sched
