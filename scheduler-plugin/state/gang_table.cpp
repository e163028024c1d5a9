#include "scheduler-plugin/state/gang_table.hpp"

#include <algorithm>
#include <utility>

#include "scheduler-plugin/model/gangs/gang_mark.hpp"

namespace chipweave::sched {

// One pod alone needs no plan.
int Gang::quorum() const {
  const int needed = minimum > 0 ? minimum : size;
  return std::max(needed, size) > 1 ? needed : 0;
}

namespace {

// Their owner may change the size of a gang while its pods come.
void take_size(const GangMark& mark, Gang& gang) {
  const auto take = [&](const std::optional<int>& given, int& kept, const char* what) {
    if (!given || *given == kept) return;
    if (kept != 0 && gang.problem.empty()) {
      gang.problem = "its pods disagree about " + std::string(what) + ": " +
                     std::to_string(std::min(*given, kept)) + " and " +
                     std::to_string(std::max(*given, kept));
    }
    kept = std::max(kept, *given);
  };
  take(mark.size, gang.size, "its size");
  take(mark.minimum, gang.minimum, "its minimum");
  if (gang.problem.empty()) gang.problem = mark.problem;
}

}  // namespace

const Gang* GangTable::add(const PodRequest& pod) {
  const std::string id = gang_id(pod);
  const auto known = gang_of_pod_.find(pod.uid);
  if (known != gang_of_pod_.end() && known->second != id) remove(pod.uid);
  if (id.empty()) return nullptr;
  Gang& gang = gangs_[id];
  if (gang.id.empty()) {
    gang.id = id;
    gang.ns = pod.key.ns;
    gang.framework = pod.mark->framework;
    gang.name = pod.mark->name;
  }
  take_size(*pod.mark, gang);
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
  if (it->second.members.empty()) gangs_.erase(it);
  return id;
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
