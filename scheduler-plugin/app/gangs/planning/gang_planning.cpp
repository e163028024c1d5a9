#include "scheduler-plugin/app/gangs/planning/gang_planning.hpp"

#include <algorithm>
#include <utility>

#include "common/base/stable_hash.hpp"
#include "common/domain/gang.hpp"

namespace chipweave::sched {
namespace {

Verdict waits_for_room(const Gang& gang) {
  return rejected(Cause::gang, Remedy::unresolvable, "no room for all pods of gang " + gang.name);
}

// As long as its owner and its pods say the same, this is the same text.
Verdict cannot_be_planned(const Gang& gang, const std::string& why) {
  return rejected(Cause::gang, Remedy::unresolvable,
                  "gang " + gang.name + " cannot be planned: " + why);
}

// Eight hexadecimal digits that differ between the plans of a gang.
std::string plan_id(const Gang& gang, Clock::Wall now) {
  std::string text = gang.id + "\n" + std::to_string(now.time_since_epoch().count());
  for (const auto& [uid, key] : gang.members) text += "\n" + uid;
  constexpr std::size_t kDigits = 8;
  return hexadecimal(stable_hash(text)).substr(0, kDigits);
}

}  // namespace

GangRef ref_of(const Gang& gang) {
  const auto& [uid, key] = *gang.members.begin();
  return {gang.ns, gang.framework, gang.name, key, uid};
}

Verdict GangPlanning::waits_for_pods(const std::string& gang) {
  return rejected(Cause::gang, Remedy::unresolvable, "waiting for the other pods of gang " + gang);
}

std::optional<Verdict> GangPlanning::plan(const Gang& gang, const std::string& uid,
                                          NodeSet offered) {
  if (!state_.network.known()) {
    retry_ = true;
    return rejected(Cause::gang, Remedy::unresolvable,
                    "waiting for the description of the network, to plan gang " + gang.name);
  }
  Misfit now;
  now.tried = {gang.changes, state_.room_version(), std::move(offered)};
  const auto before = misfits_.find(gang.id);
  const auto begin = clock_.now();
  if (before != misfits_.end()) {
    if (now.tried == before->second.tried) return before->second.verdict;
    // Conditions change all the time in a busy cluster: planning may take a tenth of the time.
    if (begin - before->second.at < kRest * before->second.took) {
      retry_ = true;
      return before->second.verdict;
    }
  }
  auto layout = lay_out(gang, pods_of(gang), chipless(gang), state_.network);
  if (!layout) {
    const bool comes = layout.error().code == Errc::unavailable;
    now.reason = layout.error().text();
    now.verdict = comes ? waits_for_pods(gang.name) : cannot_be_planned(gang, now.reason);
    return did_not_fit(gang, std::move(now), begin);
  }
  now.verdict = waits_for_room(gang);
  // rather a domain that has room for the spares, too
  const domain::Gang& request = layout->request;
  const int spares = spares_.wanted(gang);
  if (spares > 0 && request.required_level != domain::kNoLevel && !request.spare)
    layout->request.spare = domain::Spare{request.required_level, spares};
  if (plans_.find(gang.id) != nullptr) open_plan(gang, *layout);
  Filled filled = fill(gang, *layout, now);
  if (filled == Filled::none && plans_.find(gang.id) != nullptr) {
    plans_.release(gang.id);
    if (plans_.find(gang.id) != nullptr) open_plan(gang, *layout);
    filled = fill(gang, *layout, now);
    if (filled == Filled::none) plans_.release(gang.id);
  }
  if (filled == Filled::none) {
    explain_survivors(*layout, now);
    return did_not_fit(gang, std::move(now), begin);
  }
  if (filled != Filled::nothing_more) {
    const GangPlan& made = *plans_.find(gang.id);
    observer_.on(GangPlanned{ref_of(gang), made.id, made.slots.size(), made.domains, made.gbps,
                             clock_.now() - begin, now.searched});
  }
  if (spares_.is_due(gang)) spares_.place(gang, *layout, now.tried.offered);
  misfits_.erase(gang.id);
  if (filled == Filled::all) return std::nullopt;
  now.tried.room = state_.room_version();
  const Verdict verdict = misfits_.insert_or_assign(gang.id, std::move(now)).first->second.verdict;
  const GangPlans::Where at = plans_.of(uid);
  const bool placed = at.slot != nullptr && plans_.holding_of(*at.slot) != nullptr;
  return placed ? std::nullopt : std::optional(verdict);
}

Verdict GangPlanning::did_not_fit(const Gang& gang, Misfit misfit, Clock::Steady begin) {
  misfit.at = clock_.now();
  misfit.took = misfit.at - begin;
  misfit.tried.room = state_.room_version();
  if (why_not(gang.id) != misfit.reason) observer_.on(GangUnplaceable{ref_of(gang), misfit.reason});
  return misfits_.insert_or_assign(gang.id, std::move(misfit)).first->second.verdict;
}

// Pods that end soon are not waited for, and hold what they have until they are gone.
std::vector<const ClusterPod*> GangPlanning::pods_of(const Gang& gang) const {
  std::vector<const ClusterPod*> pods;
  for (const auto& [uid, key] : gang.members) {
    const ClusterPod* pod = cluster_.find(key);
    if (pod != nullptr && pod->request.uid == uid && pod->request.chips > 0 &&
        pod->refused.empty() && !pod->ending && pod->request.mark != nullptr)
      pods.push_back(pod);
  }
  return pods;
}

void GangPlanning::open_plan(const Gang& gang, const GangLayout& layout) {
  if (plans_.find(gang.id) == nullptr) {
    GangPlan plan;
    plan.id = plan_id(gang, clock_.wall());
    plan.gang = gang.id;
    plan.ns = gang.ns;
    plan.framework = gang.framework;
    plan.name = gang.name;
    plans_.begin(std::move(plan));
  }
  for (const ClusterPod* pod : pods_of(gang)) plans_.assign(pod->request, gang.id);
  plans_.set_slots(gang.id, with_former_ranks(plans_.find(gang.id)->slots, layout.slots));
}

GangPlanning::Filled GangPlanning::fill(const Gang& gang, const GangLayout& layout, Misfit& now) {
  // a plan is begun only once there is something to put into it
  const GangPlan* known = plans_.find(gang.id);
  const std::vector<GangSlot>& slots = known != nullptr ? known->slots : layout.slots;
  GangToPlan wanted;
  wanted.layout = &layout;
  wanted.slots = &slots;
  wanted.offered = &now.tried.offered;
  wanted.seated.resize(slots.size());
  std::size_t seated = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Holding* held = plans_.holding_of(slots[i]);
    const ClusterPod* pod = pod_of(gang, slots[i]);
    if (held != nullptr) {
      wanted.seated[i] = GangSeat{held->node, held->chips};
      ++seated;
    } else if (pod != nullptr && !pod->node.empty()) {
      wanted.seated[i] = GangSeat{};  // on a node that is not known
    }
  }
  const auto open = static_cast<std::size_t>(
      std::count(wanted.seated.begin(), wanted.seated.end(), std::nullopt));
  if (open == 0) {
    if (known == nullptr) open_plan(gang, layout);
    return Filled::all;
  }
  const FreedOnNodes spares = spares_.freed(gang.id);
  wanted.to_come = &spares;
  const auto begin = clock_.now();
  const GangPlacement placed = planner_.plan(wanted);
  now.searched = clock_.now() - begin;
  now.reason = placed.reason;
  const auto least = static_cast<std::size_t>(std::max(layout.request.min_member, 1));
  if (!placed.fits) {
    if (seated < least) return Filled::none;
    if (known == nullptr) open_plan(gang, layout);
    return Filled::nothing_more;
  }
  if (known == nullptr) open_plan(gang, layout);
  spares_.end(gang.id);
  const GangPlan& plan = *plans_.find(gang.id);
  GangPlan result;
  result.domains = placed.domains;
  result.gbps = placed.gbps;
  result.optimal = placed.optimal;
  result.made = clock_.now();
  plans_.renew(gang.id, result);
  bool all = true;
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    if (wanted.seated[i]) continue;
    const GangSeat& seat = placed.seats[i];
    all = all && seat.node != kNoNode;
    if (seat.node == kNoNode) continue;
    const ClusterPod* pod = pod_of(gang, plan.slots[i]);
    if (pod != nullptr) reservations_.withdraw(pod->request.uid);
    plans_.hold(gang.id, i, seat.node, seat.chips, pod == nullptr ? nullptr : &pod->request);
  }
  if (!all) now.reason = "there is no room for more of its pods";
  return all ? Filled::all : Filled::some;
}

// Where pods run already, which are not moved: whether the gang would fit without them.
void GangPlanning::explain_survivors(const GangLayout& layout, Misfit& now) {
  FreedOnNodes held_by_them;
  std::size_t running = 0;
  for (const GangSlot& slot : layout.slots) {
    const Holding* held = ledger_.find(slot.uid);
    if (held == nullptr || !held->bound) continue;
    ++running;
    const auto at =
        held_by_them.try_emplace(held->node, ToComeFree{{}, nodes_.node(held->node).room}).first;
    at->second.chips |= held->chips;
  }
  if (running == 0) return;
  GangToPlan anew;
  anew.layout = &layout;
  anew.slots = &layout.slots;
  anew.offered = &now.tried.offered;
  anew.seated.resize(layout.slots.size());
  anew.to_come = &held_by_them;
  now.reason += "; " + std::to_string(running) + " of its pods " +
                (running == 1 ? "runs and stays where it is" : "run and stay where they are");
  if (planner_.plan(anew).fits) now.reason += "; all of them together would have room elsewhere";
}

void GangPlanning::keep_spares() {
  spares_.forget_gone();
  for (const auto& [id, plan] : plans_.all()) {
    const Gang* gang = state_.gangs.find(id);
    if (gang == nullptr || !spares_.is_due(*gang)) continue;
    const auto layout = lay_out(*gang, pods_of(*gang), chipless(*gang), state_.network);
    if (layout && layout->slots.size() == plan.slots.size())
      spares_.place(*gang, *layout, NodeSet(nodes_.size(), true));
  }
}

int GangPlanning::chipless(const Gang& gang) const {
  int count = 0;
  for (const auto& [uid, key] : gang.members) {
    const ClusterPod* pod = cluster_.find(key);
    count += pod != nullptr && pod->request.chips == 0 ? 1 : 0;
  }
  return count;
}

// Null: it has not come.
const ClusterPod* GangPlanning::pod_of(const Gang& gang, const GangSlot& slot) const {
  const auto at = gang.members.find(slot.uid);
  return at == gang.members.end() ? nullptr : cluster_.find(at->second);
}

bool GangPlanning::could_fit(const Gang& gang) {
  const auto layout = lay_out(gang, pods_of(gang), chipless(gang), state_.network);
  return layout.ok() && planner_.fits_when_empty(*layout);
}

Result<GangTrial> GangPlanning::trial_of(const Gang& gang) const {
  auto layout = lay_out(gang, pods_of(gang), chipless(gang), state_.network);
  if (!layout) return std::move(layout).error();
  GangTrial out{*std::move(layout), {}};
  out.seated.resize(out.layout.slots.size());
  for (std::size_t i = 0; i < out.seated.size(); ++i) {
    const GangSlot& slot = out.layout.slots[i];
    const ClusterPod* pod = pod_of(gang, slot);
    if (pod == nullptr || pod->node.empty()) continue;
    const Holding* held = ledger_.find(slot.uid);
    out.seated[i] = held == nullptr ? GangSeat{} : GangSeat{held->node, held->chips};
  }
  return out;
}

GangPlacement GangPlanning::try_with(const GangTrial& trial, const FreedOnNodes& to_come) {
  GangToPlan wanted;
  wanted.layout = &trial.layout;
  wanted.slots = &trial.layout.slots;
  wanted.seated = trial.seated;
  wanted.to_come = &to_come;
  return planner_.may_fit(wanted) ? planner_.plan(wanted) : GangPlacement();
}

std::string GangPlanning::why_not(const std::string& gang) const {
  const auto misfit = misfits_.find(gang);
  return misfit == misfits_.end() ? std::string() : misfit->second.reason;
}

}  // namespace chipweave::sched
