#include "scheduler-plugin/app/gangs/gangs.hpp"

#include <algorithm>
#include <utility>

#include "scheduler-plugin/model/gangs/gang_mark.hpp"

namespace chipweave::sched {
namespace {

constexpr std::size_t kMaxUnseen = 10'000;

Verdict waits_for_pods(const std::string& gang) {
  return rejected(Cause::gang, Remedy::unresolvable, "waiting for the other pods of gang " + gang);
}

Verdict waits_for_room(const Gang& gang) {
  return rejected(Cause::gang, Remedy::unresolvable, "no room for all pods of gang " + gang.name);
}

// As long as its owner and its pods say the same, this is the same text.
Verdict cannot_be_planned(const Gang& gang, const std::string& why) {
  return rejected(Cause::gang, Remedy::unresolvable,
                  "gang " + gang.name + " cannot be planned: " + why);
}

// Eight hexadecimal digits (FNV-1a) that differ between the plans of a gang.
std::string plan_id(const Gang& gang, Clock::Wall now) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&hash](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  };
  add(gang.id);
  add(std::to_string(now.time_since_epoch().count()));
  for (const auto& [uid, key] : gang.members) add(uid);
  std::string out;
  for (int digit = 0; digit < 8; ++digit)
    out += "0123456789abcdef"[(hash >> (60 - 4 * digit)) & 15U];
  return out;
}

}  // namespace

// A group has one node, and for its own gangs kube-scheduler tries all pods itself.
bool Gangs::plans_for(const PodRequest& pod) const {
  if (!on_ || pod.mark == nullptr || pod.chips == 0 || is_member(pod) || !pod.gang.empty())
    return false;
  const Gang* gang = state_.gangs.of(pod.uid);
  return gang != nullptr && gang->quorum() > 0;
}

std::optional<Verdict> Gangs::find_place(const ClusterPod& pod,
                                         std::span<const std::string_view> nodes) {
  if (!plans_for(pod.request)) return std::nullopt;
  restore();
  const Gang& gang = *state_.gangs.of(pod.request.uid);
  const GangPlans::Where at = plans_.assign(pod.request, gang.id);
  if (at.slot != nullptr && plans_.holding_of(*at.slot) != nullptr) return std::nullopt;
  if (plans_.find(gang.id) == nullptr && !gang.complete()) return waits_for_pods(gang.name);
  if (nodes.size() == 1 && nodes.front() == pod.nominated) return gang_elsewhere();
  return plan(gang, pod.request.uid, set_of(nodes));
}

std::optional<Verdict> Gangs::refuse_unseen(const PodRequest& pod) {
  if (!on_ || pod.mark == nullptr || pod.chips == 0 || is_member(pod) || !pod.gang.empty())
    return std::nullopt;
  const Gang* gang = state_.gangs.find(gang_id(pod));
  const int quorum = gang != nullptr ? gang->quorum() : GangTable::quorum_of(pod);
  if (quorum == 0) return std::nullopt;
  if (unseen_.size() < kMaxUnseen) unseen_.insert(pod.uid);
  return waits_for_pods(pod.mark->name);
}

bool Gangs::has_no_place(const PodRequest& pod) const {
  if (!plans_for(pod)) return false;
  const GangPlans::Where at = plans_.of(pod.uid);
  return at.slot == nullptr || plans_.holding_of(*at.slot) == nullptr;
}

std::optional<Verdict> Gangs::find_another(const ClusterPod& pod,
                                           std::span<const std::string_view> nodes) {
  const Gang& gang = *state_.gangs.of(pod.request.uid);
  // kube-scheduler asks for the nominated node alone first, then for others.
  if (nodes.size() == 1 && nodes.front() == pod.nominated) return gang_elsewhere();
  NodeSet offered = set_of(nodes);
  const Holding* own = ledger_.find(pod.request.uid);
  if (own != nullptr && !offered[own->node] && is_sample(offered)) {
    if (++missed_[pod.request.uid] < kMaxMissed) return gang_elsewhere();
    // its scheduler seems to rule the node out
    const NodeId node = own->node;
    offered.assign(nodes_.size(), true);
    offered[node] = false;
  }
  missed_.erase(pod.request.uid);
  // All pods of a gang are alike to their scheduler, so what holds for this one holds for them.
  std::vector<std::string> lost;
  for (const GangSlot& slot : plans_.find(gang.id)->slots) {
    const Holding* held = plans_.holding_of(slot);
    if (held == nullptr || held->bound || slot.uid.empty()) continue;
    const Node& node = nodes_.node(held->node);
    const bool whole = held->unreported.empty() &&
                       !held->chips.intersects(node.unhealthy | node.network_unhealthy);
    if (!offered[held->node] || node.stale || node.closed() || !whole) lost.push_back(slot.uid);
  }
  for (const std::string& uid : lost) plans_.lose(uid);
  return plan(gang, pod.request.uid, std::move(offered));
}

// With percentageOfNodesToScore below 100, kube-scheduler offers some of 100 nodes and more that it
// could use, and others the next time.
bool Gangs::is_sample(const NodeSet& offered) const {
  constexpr std::ptrdiff_t kFewest = 100;
  const auto count = std::count(offered.begin(), offered.end(), true);
  return count >= kFewest && count < static_cast<std::ptrdiff_t>(nodes_.size() * 19 / 20);
}

NodeSet Gangs::set_of(std::span<const std::string_view> nodes) {
  NodeSet out(nodes_.size());
  nodes_.find_all(nodes, found_);
  for (const NodeId id : found_) {
    if (id != kNoNode) out[id] = true;
  }
  return out;
}

Gangs::Misfit Gangs::tried(const Gang& gang, NodeSet offered) const {
  Misfit out;
  out.gang = gang.changes;
  out.released = ledger_.released();
  out.gains = nodes_.gains();
  out.network = state_.network.version();
  out.offered = std::move(offered);
  return out;
}

bool Gangs::Misfit::same_conditions(const Misfit& other) const {
  return gang == other.gang && released == other.released && gains == other.gains &&
         network == other.network && offered == other.offered;
}

std::optional<Verdict> Gangs::plan(const Gang& gang, const std::string& uid, NodeSet offered) {
  Misfit now = tried(gang, std::move(offered));
  const auto before = misfits_.find(gang.id);
  const auto begin = clock_.now();
  if (before != misfits_.end()) {
    if (now.same_conditions(before->second)) return before->second.verdict;
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
  open_plan(gang, *layout);
  Filled filled = fill(gang, *layout, now);
  if (filled == Filled::none) {
    plans_.release(gang.id);
    open_plan(gang, *layout);
    filled = fill(gang, *layout, now);
    if (filled == Filled::none) plans_.release(gang.id);
  }
  if (filled == Filled::none) return did_not_fit(gang, std::move(now), begin);
  if (filled != Filled::nothing_more) {
    const GangPlan& made = *plans_.find(gang.id);
    observer_.on(GangPlanned{gang.ns, gang.name, made.id, made.slots.size(), made.domains,
                             made.gbps, clock_.now() - begin});
  }
  misfits_.erase(gang.id);
  if (filled == Filled::all) return std::nullopt;
  now.released = ledger_.released();
  const Verdict verdict = misfits_.insert_or_assign(gang.id, std::move(now)).first->second.verdict;
  const GangPlans::Where at = plans_.of(uid);
  const bool placed = at.slot != nullptr && plans_.holding_of(*at.slot) != nullptr;
  return placed ? std::nullopt : std::optional(verdict);
}

Verdict Gangs::did_not_fit(const Gang& gang, Misfit misfit, Clock::Steady begin) {
  misfit.at = clock_.now();
  misfit.took = misfit.at - begin;
  misfit.released = ledger_.released();
  if (why_not(gang.id) != misfit.reason)
    observer_.on(GangUnplaceable{gang.ns, gang.name, misfit.reason});
  return misfits_.insert_or_assign(gang.id, std::move(misfit)).first->second.verdict;
}

// Pods that end soon are not waited for, and hold what they have until they are gone.
std::vector<const ClusterPod*> Gangs::pods_of(const Gang& gang) const {
  std::vector<const ClusterPod*> pods;
  for (const auto& [uid, key] : gang.members) {
    const ClusterPod* pod = cluster_.find(key);
    if (pod != nullptr && pod->request.uid == uid && pod->request.chips > 0 &&
        pod->refused.empty() && !pod->ending && pod->request.mark != nullptr)
      pods.push_back(pod);
  }
  return pods;
}

void Gangs::open_plan(const Gang& gang, const GangLayout& layout) {
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
  plans_.set_slots(gang.id, layout.slots);
}

Gangs::Filled Gangs::fill(const Gang& gang, const GangLayout& layout, Misfit& now) {
  const GangPlan& plan = *plans_.find(gang.id);
  GangToPlan wanted;
  wanted.layout = &layout;
  wanted.offered = &now.offered;
  wanted.seated.resize(plan.slots.size());
  std::size_t seated = 0;
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    const Holding* held = plans_.holding_of(plan.slots[i]);
    const ClusterPod* pod = pod_of(gang, plan.slots[i]);
    if (held != nullptr) {
      wanted.seated[i] = GangSeat{held->node, held->chips};
      ++seated;
    } else if (pod != nullptr && !pod->node.empty()) {
      wanted.seated[i] = GangSeat{};  // on a node that is not known
    }
  }
  const auto open = static_cast<std::size_t>(
      std::count(wanted.seated.begin(), wanted.seated.end(), std::nullopt));
  if (open == 0) return Filled::all;
  const GangPlacement placed = planner_.plan(wanted);
  now.reason = placed.reason;
  const auto least = static_cast<std::size_t>(std::max(layout.request.min_member, 1));
  if (!placed.fits) return seated >= least ? Filled::nothing_more : Filled::none;
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

int Gangs::chipless(const Gang& gang) const {
  int count = 0;
  for (const auto& [uid, key] : gang.members) {
    const ClusterPod* pod = cluster_.find(key);
    count += pod != nullptr && pod->request.chips == 0 ? 1 : 0;
  }
  return count;
}

// Null: it has not come.
const ClusterPod* Gangs::pod_of(const Gang& gang, const GangSlot& slot) const {
  const auto at = gang.members.find(slot.uid);
  return at == gang.members.end() ? nullptr : cluster_.find(at->second);
}

void Gangs::added(const ClusterPod& pod) {
  const PodRequest& request = pod.request;
  const Gang* before = state_.gangs.of(request.uid);
  const std::string was = before == nullptr ? std::string() : before->id;
  const Gang* gang = state_.gangs.add(request);
  if (!was.empty() && (gang == nullptr || gang->id != was)) {
    plans_.lose(request.uid);
    plans_.leave(request.uid);
  }
  if (gang == nullptr) return;
  if (pod.gated) gated_.insert(gang->id);
  if (unseen_.erase(request.uid) > 0) ++state_.gathered;
  if (on_ && gang->complete() && plans_.find(gang->id) == nullptr) ++state_.gathered;
}

void Gangs::gates_changed(const ClusterPod& pod) {
  const Gang* gang = state_.gangs.of(pod.request.uid);
  if (gang != nullptr && pod.gated) gated_.insert(gang->id);
}

bool Gangs::plan_gated(const Gang& gang) {
  (void)plan(gang, {}, NodeSet(nodes_.size(), true));
  return plans_.find(gang.id) != nullptr;
}

bool Gangs::could_fit(const Gang& gang) {
  const auto layout = lay_out(gang, pods_of(gang), chipless(gang), state_.network);
  return layout.ok() && planner_.fits_when_empty(*layout);
}

void Gangs::owner_says(const std::string& id, std::optional<GangSpec> spec) {
  const Gang* gang = state_.gangs.set_spec(id, std::move(spec));
  if (gang != nullptr && gang->complete() && plans_.find(id) == nullptr) ++state_.gathered;
}

void Gangs::gone(const PodRequest& pod) {
  missed_.erase(pod.uid);
  unseen_.erase(pod.uid);
  plans_.leave(pod.uid);
  const std::string id = state_.gangs.remove(pod.uid);
  if (id.empty() || state_.gangs.find(id) != nullptr) return;
  plans_.release(id);
  misfits_.erase(id);
  gated_.erase(id);
}

void Gangs::tick() {
  if (std::exchange(retry_, false)) ++state_.gathered;
  for (const std::string& id : plans_.due(clock_.now())) {
    const GangPlan& plan = *plans_.find(id);
    observer_.on(GangReleased{plan.ns, plan.name, plan.id});
    plans_.release(id);
    ++state_.freed;
  }
}

void Gangs::step_down() {
  plans_.end_all();
  misfits_.clear();
  restored_term_.reset();
}

std::string Gangs::why_not(const std::string& gang) const {
  const auto misfit = misfits_.find(gang);
  return misfit == misfits_.end() ? std::string() : misfit->second.reason;
}

}  // namespace chipweave::sched
