#include "scheduler-plugin/app/gangs/gang_plans.hpp"

#include <algorithm>
#include <utility>

#include "scheduler-plugin/model/gangs/gang_mark.hpp"

namespace chipweave::sched {
namespace {

// Whether the slot is one for this pod.
bool is_for(const GangSlot& slot, const PodRequest& pod) {
  return slot.uid.empty() && slot.role == pod.mark->role && slot.index == pod.mark->index &&
         slot.chips == pod.chips;
}

// The displayed holder of the chips of a pod that is to come.
PodKey pod_to_come(const GangPlan& plan, std::size_t slot) {
  return {plan.ns, plan.name + " (rank " + std::to_string(slot) + ")"};
}

}  // namespace

const GangPlan* GangPlans::find(std::string_view gang) const {
  const auto it = plans_.find(gang);
  return it == plans_.end() ? nullptr : &it->second;
}

GangPlans::Where GangPlans::of(std::string_view uid) const {
  const auto at = slots_.find(uid);
  if (at == slots_.end()) return {};
  const GangPlan& plan = plans_.find(at->second.gang)->second;
  return {&plan, &plan.slots[at->second.slot]};
}

const Holding* GangPlans::holding_of(const GangSlot& slot) const {
  const Holding* held = ledger_.find(slot.uid.empty() ? slot.spare : slot.uid);
  return held != nullptr && (held->planned || held->bound) ? held : nullptr;
}

GangPlans::Where GangPlans::assign(const PodRequest& pod, const std::string& gang) {
  if (const Where known = of(pod.uid); known.plan != nullptr) return known;
  const auto it = plans_.find(gang);
  if (it == plans_.end()) return {};
  GangPlan& plan = it->second;
  const auto slot = std::find_if(plan.slots.begin(), plan.slots.end(),
                                 [&](const GangSlot& one) { return is_for(one, pod); });
  if (slot == plan.slots.end()) return {};
  if (ledger_.find(slot->spare) != nullptr) {
    if (ledger_.find(pod.uid) != nullptr) drop(pod.uid);
    ledger_.hand_over(slot->spare, {pod.uid, pod.key, job_identity(pod), false});
  }
  slot->spare.clear();
  slot->uid = pod.uid;
  ++plan.version;
  slots_[pod.uid] = {gang, static_cast<std::size_t>(slot - plan.slots.begin())};
  return {&plan, &*slot};
}

std::vector<const Holding*> GangPlans::alike_on(std::string_view uid, NodeId node) const {
  std::vector<const Holding*> out;
  const Where own = of(uid);
  if (own.slot == nullptr) return out;
  for (const Holding* held : ledger_.on(node)) {
    if (!held->planned || held->bound || held->uid == uid) continue;
    const Where at = of(held->uid);
    if (at.plan == own.plan && at.slot->role == own.slot->role && at.slot->chips == own.slot->chips)
      out.push_back(held);
  }
  return out;
}

void GangPlans::exchange(const std::string& a, const std::string& b) {
  At& at_a = slots_.find(a)->second;
  At& at_b = slots_.find(b)->second;
  GangPlan& plan = plans_.find(at_a.gang)->second;
  const Holding of_a = *ledger_.find(a);
  const Holding of_b = *ledger_.find(b);
  const std::string aside = "\n" + at_a.gang + "#" + std::to_string(++spares_named_);
  // a and b may be names in what is handed over
  ledger_.hand_over(of_a.uid, {aside, of_a.key, std::string(), true});
  ledger_.hand_over(of_b.uid, {of_a.uid, of_a.key, of_a.job, false});
  ledger_.hand_over(aside, {of_b.uid, of_b.key, of_b.job, false});
  std::swap(plan.slots[at_a.slot].uid, plan.slots[at_b.slot].uid);
  std::swap(at_a.slot, at_b.slot);
  ++plan.version;
}

void GangPlans::begin(GangPlan plan) {
  std::string gang = plan.gang;
  plans_.emplace(std::move(gang), std::move(plan));
}

void GangPlans::set_slots(const std::string& gang, std::vector<GangSlot> slots) {
  GangPlan& plan = plans_.find(gang)->second;
  forget_pods(plan);
  ++plan.version;
  std::vector<GangSlot> former = std::exchange(plan.slots, std::move(slots));
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    GangSlot& slot = plan.slots[i];
    if (!slot.uid.empty()) slots_[slot.uid] = {gang, i};
  }
  for (GangSlot& old : former) {
    if (old.spare.empty() || ledger_.find(old.spare) == nullptr) continue;
    const auto same = std::find_if(plan.slots.begin(), plan.slots.end(), [&](const GangSlot& slot) {
      return slot.uid.empty() && slot.spare.empty() && slot.role == old.role &&
             slot.index == old.index && slot.chips == old.chips;
    });
    if (same == plan.slots.end()) {
      drop(old.spare);
    } else {
      same->spare = std::move(old.spare);
    }
  }
  for (const GangSlot& old : former) {
    const Holding* held = old.uid.empty() ? nullptr : ledger_.find(old.uid);
    if (held != nullptr && held->planned && !held->bound && !slots_.contains(old.uid))
      drop(old.uid);
  }
}

void GangPlans::renew(const std::string& gang, const GangPlan& result) {
  GangPlan& plan = plans_.find(gang)->second;
  plan.domains = result.domains;
  plan.gbps = result.gbps;
  plan.optimal = result.optimal;
  plan.made = result.made;
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    const Holding* held = holding_of(plan.slots[i]);
    if (held != nullptr && !held->bound) ledger_.extend(held->uid, expiry_of(plan, i));
  }
}

// Each at a time of its own: the ledger finds one among equal times by going through them.
Clock::Steady GangPlans::expiry_of(const GangPlan& plan, std::size_t slot) const {
  return plan.made + kLifetime + std::chrono::nanoseconds(slot + 1);
}

void GangPlans::hold(const std::string& gang, std::size_t number, NodeId node, ChipSet chips,
                     const PodRequest* pod) {
  GangPlan& plan = plans_.find(gang)->second;
  GangSlot& slot = plan.slots[number];
  ++plan.version;
  Holding holding;
  holding.node = node;
  holding.chips = chips;
  holding.expires = expiry_of(plan, number);
  holding.planned = true;
  if (pod != nullptr) {
    holding.uid = pod->uid;
    holding.key = pod->key;
    holding.job = job_identity(*pod);
  } else {
    // Never a pod's uid, since it contains a line break.
    slot.spare = "\n" + gang + "#" + std::to_string(++spares_named_);
    holding.uid = slot.spare;
    holding.key = pod_to_come(plan, number);
    holding.spare = true;
  }
  ledger_.hold_free(std::move(holding));
  observer_.on(ReservationEvent::held);
}

void GangPlans::drop(const std::string& holding) {
  ledger_.drop(holding);
  observer_.on(ReservationEvent::dropped);
}

void GangPlans::leave(std::string_view uid) {
  const auto at = slots_.find(uid);
  if (at == slots_.end()) return;
  const std::string gang = at->second.gang;
  GangPlan& plan = plans_.find(gang)->second;
  GangSlot& slot = plan.slots[at->second.slot];
  if (const Holding* held = holding_of(slot); held != nullptr && !held->bound) {
    if (held->unreported.empty()) {
      slot.spare = "\n" + gang + "#" + std::to_string(++spares_named_);
      ledger_.hand_over(slot.uid,
                        {slot.spare, pod_to_come(plan, at->second.slot), std::string(), true});
    } else {
      drop(slot.uid);
    }
  }
  slot.uid.clear();
  ++plan.version;
  slots_.erase(at);
}

void GangPlans::lose(std::string_view uid) {
  const Where at = of(uid);
  if (at.plan == nullptr) return;
  const Holding* held = holding_of(*at.slot);
  if (held != nullptr && !held->bound) drop(held->uid);
}

void GangPlans::forget_pods(const GangPlan& plan) {
  for (const GangSlot& slot : plan.slots) slots_.erase(slot.uid);
}

// Whether one is bound.
bool GangPlans::drop_unbound(GangPlan& plan) {
  bool bound = false;
  for (GangSlot& slot : plan.slots) {
    const Holding* held = holding_of(slot);
    bound = bound || (held != nullptr && held->bound);
    if (held != nullptr && !held->bound) drop(held->uid);
    slot.spare.clear();
  }
  return bound;
}

void GangPlans::release(const std::string& gang) {
  const auto it = plans_.find(gang);
  if (it == plans_.end()) return;
  if (drop_unbound(it->second)) return;
  forget_pods(it->second);
  plans_.erase(it);
}

void GangPlans::end_all() {
  for (auto it = plans_.begin(); it != plans_.end();) {
    drop_unbound(it->second);
    forget_pods(it->second);
    it = plans_.erase(it);
  }
}

std::vector<std::string> GangPlans::due(Clock::Steady now) const {
  std::vector<std::string> out;
  for (const auto& [gang, plan] : plans_) {
    if (plan.made + kLifetime > now) continue;
    const bool any = std::any_of(plan.slots.begin(), plan.slots.end(), [&](const GangSlot& slot) {
      const Holding* held = holding_of(slot);
      return held != nullptr && !held->bound;
    });
    if (any) out.push_back(gang);
  }
  return out;
}

Clock::Steady GangPlans::expiry(std::string_view uid) const {
  const auto at = slots_.find(uid);
  return expiry_of(plans_.find(at->second.gang)->second, at->second.slot);
}

std::string GangPlans::check_invariants() const {
  std::size_t pods = 0;
  for (const auto& [gang, plan] : plans_) {
    for (std::size_t i = 0; i < plan.slots.size(); ++i) {
      const GangSlot& slot = plan.slots[i];
      if (!slot.uid.empty() && !slot.spare.empty())
        return "a slot of gang " + gang + " has a pod and a spare part";
      const Holding* held = holding_of(slot);
      if (held != nullptr && held->spare != slot.uid.empty())
        return "a slot of gang " + gang + " holds a part that is not its own";
      if (slot.uid.empty()) continue;
      ++pods;
      const auto at = slots_.find(slot.uid);
      if (at == slots_.end() || at->second.gang != gang || at->second.slot != i)
        return "pod " + slot.uid + " does not know its slot in gang " + gang;
    }
  }
  return pods == slots_.size() ? "" : "a pod has a slot in no gang";
}

}  // namespace chipweave::sched
