#include "scheduler-plugin/app/groups.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::sched {

namespace {

// The displayed holder of a spare part.
PodKey spare_key(const std::string& ns, const std::string& group) {
  return {ns, group + " (group)"};
}

}  // namespace

const Group* Groups::find(const std::string& id) const {
  const auto it = groups_.find(id);
  return it == groups_.end() ? nullptr : &it->second;
}

// Never a pod's uid, since it contains a line break.
std::string Groups::spare_name(const std::string& id) {
  return "\n" + id + "#" + std::to_string(++spares_named_);
}

void Groups::drop(const std::string& uid) {
  ledger_.drop(uid);
  observer_.on(ReservationEvent::dropped);
}

void Groups::drop_spares(Group& group) {
  for (const std::string& spare : group.spares) drop(spare);
  group.spares.clear();
}

// Spare parts wait for members of a group that has some.
void Groups::end_if_empty(Map::iterator it) {
  if (!it->second.members.empty()) return;
  drop_spares(it->second);
  groups_.erase(it);
}

const Holding* Groups::part_for(const PodRequest& pod) const {
  const Group* group = find(group_id(pod));
  if (group == nullptr) return nullptr;
  if (group->members.contains(pod.uid)) return ledger_.find(pod.uid);
  for (const std::string& spare : group->spares) {
    const Holding* part = ledger_.find(spare);
    if (part->chips.size() == pod.chips) return part;
  }
  return nullptr;
}

const Holding* Groups::claim(const PodRequest& pod) {
  const auto it = groups_.find(group_id(pod));
  if (it == groups_.end()) return nullptr;
  Group& group = it->second;
  const Holding* part = part_for(pod);
  if (part == nullptr) {
    drop_spares(group);
    return nullptr;
  }
  if (!part->spare) return part;
  const std::string spare = part->uid;
  if (ledger_.find(pod.uid) != nullptr) drop(pod.uid);
  ledger_.hand_over(spare, {pod.uid, pod.key, job_identity(pod), false});
  std::erase(group.spares, spare);
  group.members.insert(pod.uid);
  return ledger_.find(pod.uid);
}

// Fails only if the precondition is violated: the chips are not free.
bool Groups::hold_part(Group& group, Holding part) {
  const std::string uid = part.uid;
  const bool spare = part.spare;
  if (!ledger_.hold(std::move(part)).ok()) return false;
  observer_.on(ReservationEvent::held);
  if (spare) {
    group.spares.push_back(uid);
  } else {
    group.members.insert(uid);
  }
  return true;
}

void Groups::hold(const PodRequest& pod, NodeId node, std::span<const ChipSet> parts,
                  const GroupPlan& plan, Clock::Steady expires) {
  const std::string id = group_id(pod);
  Group& group = groups_[id];
  drop_spares(group);
  if (ledger_.find(pod.uid) != nullptr) drop(pod.uid);
  group.node = node;
  group.plan = plan;
  Holding part;
  part.node = node;
  part.group = id;
  part.expires = expires;
  part.uid = pod.uid;
  part.key = pod.key;
  part.job = job_identity(pod);
  part.chips = parts.front();
  bool held = hold_part(group, part);
  part.job.clear();
  part.key = spare_key(pod.key.ns, pod.group->name);
  part.spare = true;
  for (const ChipSet chips : parts.subspan(1)) {
    part.uid = spare_name(id);
    part.chips = chips;
    held = held && hold_part(group, part);
  }
  end_if_empty(groups_.find(id));
}

void Groups::join(const std::string& id, const std::string& uid, NodeId node) {
  Group& group = groups_[id];
  group.node = node;
  group.members.insert(uid);
}

void Groups::extend(const std::string& id, Clock::Steady expires) {
  const auto it = groups_.find(id);
  if (it == groups_.end()) return;
  for (const std::string& uid : it->second.members) ledger_.extend(uid, expires);
  for (const std::string& uid : it->second.spares) ledger_.extend(uid, expires);
}

Clock::Steady Groups::expiry(const Holding& part) const {
  const Group* group = find(part.group);
  if (group == nullptr) return part.expires;
  if (!group->spares.empty()) return ledger_.find(group->spares.front())->expires;
  for (const std::string& uid : group->members) {
    if (const Holding* other = ledger_.find(uid); !other->bound) return other->expires;
  }
  return part.expires;
}

void Groups::leave(const Holding& part) {
  const auto it = groups_.find(part.group);
  const std::string uid = part.uid;
  const std::string name = spare_name(part.group);
  const std::size_t slash = part.group.find('/');
  ledger_.hand_over(
      uid, {name, spare_key(part.key.ns, part.group.substr(slash + 1)), std::string(), true});
  it->second.members.erase(uid);
  it->second.spares.push_back(name);
  end_if_empty(it);
}

void Groups::forget(const Holding& part) {
  const auto it = groups_.find(part.group);
  if (it == groups_.end()) return;
  it->second.members.erase(part.uid);
  std::erase(it->second.spares, part.uid);
  end_if_empty(it);
}

void Groups::dissolve(const std::string& id) {
  const auto it = groups_.find(id);
  if (it == groups_.end()) return;
  drop_spares(it->second);
  std::erase_if(it->second.members, [&](const std::string& uid) {
    const Holding* part = ledger_.find(uid);
    if (part != nullptr && part->bound) return false;
    if (part != nullptr) drop(uid);
    return true;
  });
  end_if_empty(it);
}

void Groups::forget_requests(NodeId node) {
  for (auto& [id, group] : groups_) {
    if (group.node == node) group.plan.request.reset();
  }
}

std::string Groups::check_invariants() const {
  for (const auto& [id, group] : groups_) {
    if (group.members.empty()) return "group " + id + " has no member";
    const auto wrong = [&, &name = id, &where = group.node](const std::string& uid, bool spare) {
      const Holding* part = ledger_.find(uid);
      return part == nullptr || part->node != where || part->group != name || part->spare != spare;
    };
    for (const std::string& uid : group.members) {
      if (wrong(uid, false))
        return "group " + id + " lists member " + uid + ", which holds no part";
    }
    for (const std::string& uid : group.spares) {
      if (wrong(uid, true)) return "group " + id + " lists spare " + uid + ", which holds no part";
    }
  }
  return {};
}

}  // namespace chipweave::sched
