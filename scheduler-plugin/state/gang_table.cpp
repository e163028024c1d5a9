#include "scheduler-plugin/state/gang_table.hpp"

#include <algorithm>
#include <utility>

#include "common/base/limits.hpp"
#include "scheduler-plugin/model/gangs/frameworks.hpp"
#include "scheduler-plugin/model/gangs/gang_mark.hpp"

namespace chipweave::sched {
namespace {

// Its pods may come before or after their owner says more.
void take_sizes(const GangMark& mark, GangSpec& of_pods) {
  const auto take = [&](const std::optional<int>& given, std::optional<int>& kept,
                        const char* what) {
    if (!given || given == kept) return;
    if (kept && of_pods.problem.empty()) {
      of_pods.problem = "pods of the gang disagree about its " + std::string(what) + ": " +
                        std::to_string(std::min(*given, *kept)) + " and " +
                        std::to_string(std::max(*given, *kept));
    }
    kept = std::max(kept.value_or(0), *given);
  };
  take(mark.size, of_pods.size, "size");
  take(mark.minimum, of_pods.minimum, "minimum");
  if (of_pods.problem.empty()) of_pods.problem = mark.problem;
}

// Of all roles; 0 where that of one is not known.
int sum_of(const std::vector<RoleSpec>& roles, bool minimum) {
  std::int64_t sum = 0;
  for (const RoleSpec& role : roles) {
    const auto pods = minimum && role.minimum ? role.minimum : role.pods;
    if (!pods) return 0;
    sum += *pods;
  }
  return static_cast<int>(std::min<std::int64_t>(sum, limits::kMaxGangPods));
}

}  // namespace

// A pod alone needs no plan.
int Gang::quorum() const {
  const gangs::Framework* known = gangs::framework_called(framework);
  if (known != nullptr && known->one_node) return 0;
  const int size = this->size();
  int needed = spec.minimum.value_or(0);
  if (needed == 0 && !spec.size) needed = sum_of(spec.roles, true);
  if (needed == 0) needed = size;
  return std::max(needed, size) > 1 ? needed : 0;
}

int Gang::size() const { return spec.size.value_or(sum_of(spec.roles, false)); }

void GangTable::merge(Gang& gang) const {
  const auto of_owner = of_owners_.find(gang.id);
  const auto of_pods = of_pods_.find(gang.id);
  gang.spec = of_owner == of_owners_.end() ? GangSpec{} : of_owner->second;
  if (of_pods != of_pods_.end()) add_missing(gang.spec, of_pods->second);
  ++gang.changes;
}

const Gang* GangTable::add(const PodRequest& pod) {
  const std::string id = gang_id(pod);
  const auto known = gang_of_pod_.find(pod.uid);
  if (known != gang_of_pod_.end() && known->second != id) remove(pod.uid);
  if (id.empty()) return nullptr;
  Gang& gang = gangs_[id];
  const bool fresh = gang.id.empty();
  if (fresh) {
    gang.id = id;
    gang.ns = pod.key.ns;
    gang.framework = pod.mark->framework;
    gang.name = pod.mark->name;
  }
  GangSpec& of_pods = of_pods_[id];
  const GangSpec before = of_pods;
  take_sizes(*pod.mark, of_pods);
  if (fresh || of_pods != before) merge(gang);
  gang.sequential = gang.sequential || pod.mark->sequential;
  gang.spares = std::max(gang.spares, pod.mark->spares);
  gang.ends_failed = gang.ends_failed || pod.mark->fault != FaultRule::off;
  ++gang.changes;
  if (gang.members.emplace(pod.uid, pod.key).second) gang_of_pod_.emplace(pod.uid, id);
  return &gang;
}

std::string GangTable::remove(std::string_view uid) {
  const auto known = gang_of_pod_.find(uid);
  if (known == gang_of_pod_.end()) return {};
  std::string id = std::move(known->second);
  gang_of_pod_.erase(known);
  const auto it = gangs_.find(id);
  it->second.members.erase(it->second.members.find(uid));
  ++it->second.changes;
  if (it->second.members.empty()) {
    gangs_.erase(it);
    of_pods_.erase(id);
  }
  return id;
}

const Gang* GangTable::set_spec(const std::string& id, std::optional<GangSpec> spec) {
  if (spec) {
    of_owners_.insert_or_assign(id, *std::move(spec));
  } else {
    of_owners_.erase(id);
  }
  const auto it = gangs_.find(id);
  if (it == gangs_.end()) return nullptr;
  merge(it->second);
  return &it->second;
}

int GangTable::quorum_of(const PodRequest& pod) const {
  Gang gang;
  gang.framework = pod.mark->framework;
  if (const auto owner = of_owners_.find(gang_id(pod)); owner != of_owners_.end())
    gang.spec = owner->second;
  GangSpec of_pod;
  take_sizes(*pod.mark, of_pod);
  add_missing(gang.spec, of_pod);
  return gang.quorum();
}

const Gang* GangTable::find(std::string_view id) const {
  const auto it = gangs_.find(id);
  return it == gangs_.end() ? nullptr : &it->second;
}

const Gang* GangTable::of(std::string_view uid) const {
  const auto known = gang_of_pod_.find(uid);
  return known == gang_of_pod_.end() ? nullptr : find(known->second);
}

}  // namespace chipweave::sched
