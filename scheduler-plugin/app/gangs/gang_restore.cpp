#include "scheduler-plugin/app/gangs/gang_restore.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::sched {
namespace {

// The chips with these indices; nullopt: the node does not have one of them.
std::optional<ChipSet> chips_of(const Node& node, const std::vector<int>& indices) {
  ChipSet out;
  for (const int index : indices) {
    const auto slot = node.topology.slot_of(domain::ChipIndex{index});
    if (!slot) return std::nullopt;
    out.insert(*slot);
  }
  return out;
}

// Whether one of the pods that were planned is there. Else the plan is of an earlier gang of this
// name, and the pods of this one may be incomplete.
bool is_of(const StoredPlan& stored, const Gang& gang) {
  return std::any_of(stored.slots.begin(), stored.slots.end(), [&](const StoredSlot& slot) {
    return !slot.uid.empty() && gang.members.contains(slot.uid);
  });
}

}  // namespace

void GangRestore::restore() {
  if (term_ == authority_.term()) return;
  term_ = authority_.term();
  if (store_ == nullptr) return;
  store_->each([this](const StoredPlan& stored) { restore(stored); });
}

// Pods that are bound have their chips by their annotations. The others get back what was planned
// for them as far as it is free and healthy.
void GangRestore::restore(const StoredPlan& stored) {
  const Gang* gang = state_.gangs.find(stored.gang);
  if (gang == nullptr || plans_.find(stored.gang) != nullptr || !is_of(stored, *gang)) return;
  GangPlan plan;
  plan.id = stored.plan;
  plan.gang = gang->id;
  plan.ns = gang->ns;
  plan.framework = gang->framework;
  plan.name = gang->name;
  plan.made = clock_.now();
  plans_.begin(std::move(plan));
  std::vector<GangSlot> slots;
  for (const StoredSlot& one : stored.slots) {
    const bool here = gang->members.contains(one.uid);
    slots.push_back({one.role, one.index, one.chips, here ? one.uid : std::string(), {}});
  }
  plans_.set_slots(gang->id, std::move(slots));
  for (std::size_t i = 0; i < stored.slots.size(); ++i) {
    const StoredSlot& one = stored.slots[i];
    const GangSlot& slot = plans_.find(gang->id)->slots[i];
    if (one.indices.empty() || plans_.holding_of(slot) != nullptr) continue;
    const NodeId id = nodes_.find(one.node);
    if (id == kNoNode || !nodes_.node(id).has_inventory()) continue;
    const Node& node = nodes_.node(id);
    const auto chips = chips_of(node, one.indices);
    const bool usable = chips && chips->size() == one.chips && node.free().contains(*chips) &&
                        !chips->intersects(node.network_unhealthy);
    const ClusterPod* pod = planning_.pod_of(*gang, slot);
    if (!usable || (pod != nullptr && !pod->node.empty())) continue;
    if (pod != nullptr) reservations_.withdraw(pod->request.uid);
    plans_.hold(gang->id, i, id, *chips, pod == nullptr ? nullptr : &pod->request);
  }
}

}  // namespace chipweave::sched
