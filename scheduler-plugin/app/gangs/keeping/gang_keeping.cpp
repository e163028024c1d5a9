#include "scheduler-plugin/app/gangs/keeping/gang_keeping.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/count_of.hpp"
#include "scheduler-plugin/app/gangs/preemption/victim_units.hpp"

namespace chipweave::sched {
namespace {

constexpr std::chrono::minutes kOverlap{1};  // of what is kept, with the next choice of nodes

}  // namespace

bool GangKeeping::go_on(const Gang& gang) {
  if (gang_ != gang.id) {
    end();
    gang_ = gang.id;
  }
  if (!take_trial(gang)) return false;
  const auto now = clock_.now();
  const bool choose = !chosen_ || now - *chosen_ >= kRenew || !first_kept_.usable();
  if (choose && !search_ && (!in_vain_ || tried_ != state_.room_version())) begin_search();
  first_kept_.take_all();
  if (search_) search(gang);
  if (!chosen_ || tried_ == state_.room_version() || now - tried_at_ < kTryEvery) return false;
  tried_ = state_.room_version();
  tried_at_ = now;
  return plan_now(gang);
}

// False: it cannot be planned as it is.
bool GangKeeping::take_trial(const Gang& gang) {
  if (changes_ == gang.changes && gang.changes != 0) return true;
  auto trial = gangs_.planning().trial_of(gang);
  if (!trial) {
    end();
    return false;
  }
  trial_ = *std::move(trial);
  changes_ = gang.changes;
  search_.reset();
  in_vain_ = false;
  if (chosen_) begin_search();
  return true;
}

void GangKeeping::begin_search() {
  search_ = Search();
  Search& search = *search_;
  const KeptChips::ByNode kept = first_kept_.kept();
  std::vector<std::pair<int, NodeId>> by_taken;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_.node(id);
    if (!node.has_inventory() || node.stale || node.closed()) continue;
    const auto mine = kept.find(id);
    const ChipSet taken = mine == kept.end() ? node.taken : node.taken - mine->second;
    by_taken.emplace_back(taken.size(), id);
  }
  std::sort(by_taken.begin(), by_taken.end());
  for (const auto& [taken, id] : by_taken) search.order.push_back(id);
  search.fits = search.order.size();
}

// What the first of the nodes have if all pods with chips there end.
FreedOnNodes GangKeeping::without_pods(std::size_t nodes) const {
  FreedSum out;
  for (std::size_t i = 0; i < nodes; ++i) {
    const NodeId id = search_->order[i];
    for (const Holding* held : ledger_.on(id)) {
      const ClusterPod* pod = held->bound ? cluster_.find(held->key) : nullptr;
      const bool known = pod != nullptr && pod->request.uid == held->uid;
      out.add(id, held->chips,
              known ? NodeUse{pod->others.milli_cpu, pod->others.memory} : NodeUse());
    }
  }
  return out.result(state_);
}

// One step: halves what is left between too few and enough.
void GangKeeping::search(const Gang& gang) {
  Search& search = *search_;
  const std::size_t tried =
      search.found ? search.fails + (search.fits - search.fails) / 2 : search.fits;
  GangPlacement placement = gangs_.planning().try_with(trial_, without_pods(tried));
  if (placement.fits) {
    search.fits = tried;
    search.found = std::move(placement);
  } else if (search.found) {
    search.fails = tried;
  } else {
    // not even on all of them
    search_.reset();
    first_kept_.end();
    chosen_.reset();
    in_vain_ = true;
    tried_ = state_.room_version();
    return;
  }
  if (search.fits - search.fails > 1) return;
  const GangPlacement found = *std::move(search.found);
  search_.reset();
  chosen(gang, found);
}

void GangKeeping::chosen(const Gang& gang, const GangPlacement& placement) {
  KeptChips::ByNode wanted;
  for (std::size_t i = 0; i < placement.seats.size(); ++i) {
    const GangSeat& seat = placement.seats[i];
    if (!trial_.seated[i] && seat.node != kNoNode) wanted[seat.node] |= seat.chips;
  }
  const bool first = !chosen_;
  chosen_ = clock_.now();
  // not the names by which preemption and spares keep chips for the gang
  first_kept_.want(gang.id + "#first", {gang.ns, gang.name}, wanted, *chosen_ + kRenew + kOverlap);
  tried_ = {};
  if (first) observer_.on(GangKeepsChips{ref_of(gang), wanted.size()});
}

// False: it does not fit on what is kept, and free.
bool GangKeeping::plan_now(const Gang& gang) {
  FreedSum kept;
  kept.add(first_kept_.kept());
  if (!gangs_.planning().try_with(trial_, kept.result(state_)).fits) return false;
  first_kept_.end();
  gangs_.planning().forget(gang.id);
  const bool planned = gangs_.plan_gated(gang);
  end();
  return planned;
}

void GangKeeping::end() {
  const bool kept = !first_kept_.kept().empty();
  first_kept_.end();
  if (kept) ++state_.freed;
  gang_.clear();
  changes_ = 0;
  search_.reset();
  chosen_.reset();
  in_vain_ = false;
}

KeptChips::ByNode GangKeeping::kept_for(const std::string& gang) const {
  return gang_ == gang ? first_kept_.kept() : KeptChips::ByNode();
}

std::string GangKeeping::why(const std::string& gang) const {
  if (gang_ != gang || !chosen_) return {};
  std::set<std::string> pods;
  const KeptChips::ByNode missing = first_kept_.missing();
  for (const auto& [node, chips] : missing) {
    for (const Holding* held : ledger_.on(node)) {
      if (held->chips.intersects(chips)) pods.insert(held->uid);
    }
  }
  return "is the first in line: chips that come free on " + count_of(missing.size(), "node") +
         " are kept for it; waits for " + count_of(pods.size(), "pod") + " there to end";
}

}  // namespace chipweave::sched
