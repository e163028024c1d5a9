#include "scheduler-plugin/app/bound_pods.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace chipweave::sched {
namespace {

constexpr std::chrono::seconds kDisputeLasts{5};  // before a dispute is published

// Whether a pod with known chips holds this one.
bool belongs(const std::vector<const Holding*>& holdings, std::optional<int> slot, int index) {
  return std::any_of(holdings.begin(), holdings.end(), [&](const Holding* h) {
    if (!h->bound || h->assumed) return false;
    return slot ? h->chips.contains(*slot)
                : std::find(h->unreported.begin(), h->unreported.end(), index) !=
                      h->unreported.end();
  });
}

// The GPUs that their agent reports to be in MIG mode.
ChipSet in_mig_mode(const Node& node) {
  ChipSet out;
  for (const domain::Fault& fault : node.faults) {
    if (fault.code != "nvml.mig" || !fault.chip) continue;
    if (const auto slot = node.topology.slot_of(*fault.chip)) out.insert(*slot);
  }
  return out;
}

ChipSet first_of(ChipSet chips, int count) {
  ChipSet out;
  for (const int slot : chips) {
    if (out.size() < count) out.insert(slot);
  }
  return out;
}

}  // namespace

bool BoundPods::matches(const Holding& held, const Placement& claimed) const {
  const Node& node = nodes_.node(held.node);
  std::vector<int> indices = node.topology.indices(held.chips);
  indices.insert(indices.end(), held.unreported.begin(), held.unreported.end());
  std::sort(indices.begin(), indices.end());
  return node.name == claimed.node && indices == claimed.chips;
}

// The pod's chips are not known, or not certain.
void BoundPods::assume(const ClusterPod& pod, const Placement* claimed) {
  const std::string& uid = pod.request.uid;
  PodRecord& record = *records_.find(uid);
  if (record.decision != nullptr)
    observer_.on(PodFreed{decisions_.placed_pod_of(*record.decision)});
  if (claimed == nullptr) {
    records_.on(uid, PodEvent::found_unknown);
    return;
  }
  records_.on(uid, PodEvent::found_contested);
  record.dispute = std::make_unique<Dispute>(Dispute{*claimed, clock_.now(), false});
}

Holding BoundPods::holding_of(const ClusterPod& pod, NodeId node) const {
  Holding holding;
  holding.uid = pod.request.uid;
  holding.key = pod.request.key;
  holding.node = node;
  holding.bound = true;
  holding.job = job_identity(pod.request);
  holding.parts = pod.parts;
  holding.mig = pod.parts && pod.request.resource.starts_with("nvidia.com/mig-");
  if (is_member(pod.request)) {
    const Group* group = groups_.find(group_id(pod.request));
    if (group == nullptr || group->node == node) holding.group = group_id(pod.request);
  }
  return holding;
}

// The claimed chips that another pod is known to hold.
std::vector<int> BoundPods::contested(const Placement& claimed, NodeId id) const {
  const Node& node = nodes_.node(id);
  std::vector<int> chips;
  for (const int index : claimed.chips) {
    const auto slot = node.topology.slot_of(domain::ChipIndex{index});
    if (belongs(ledger_.on(id), slot, index)) chips.push_back(index);
  }
  return chips;
}

// If the other pod is gone, its deletion arrived late and the claim is valid.
void BoundPods::end_disputes(NodeId id) {
  if (records_.in(PodState::disputed).empty()) return;
  std::vector<std::string> over;
  for (const Holding* h : ledger_.on(id)) {
    const PodRecord* record = records_.find(h->uid);
    if (record != nullptr && record->dispute != nullptr &&
        contested(record->dispute->claimed, id).empty())
      over.push_back(h->uid);
  }
  for (const std::string& uid : over) {
    PodRecord& record = *records_.find(uid);
    const Placement claimed = record.dispute->claimed;
    const ClusterPod* pod = cluster_.find(record.key);
    // of two with the same claim the first one wins
    if (pod == nullptr || pod->request.uid != uid || !contested(claimed, id).empty()) continue;
    Holding holding = drop_holding(uid);
    holding.assumed = false;
    holding.unplaced = 0;
    holding.chips = {};
    holding.unreported.clear();
    const std::string group = holding.group;
    hold_known(claimed, std::move(holding));
    if (!group.empty()) groups_.join(group, uid, id);
    records_.on(uid, PodEvent::found_known);
    recall(*pod, claimed);
  }
}

std::optional<NodeId> BoundPods::gone(std::string_view uid) {
  if (ledger_.find(uid) == nullptr) return std::nullopt;
  const NodeId id = drop_holding(std::string(uid)).node;
  ++state_.freed;
  kept_.take(id);
  first_kept_.take(id);
  const Node& node = nodes_.node(id);
  if (node.holders == 0 && node.boot_id.empty()) {
    nodes_.remove(id);  // no agent reports it
    return std::nullopt;
  }
  settle(id);
  return id;
}

// A disputed pod has those claimed chips that no other pod is known to have: they are not given
// away while the dispute is about the others. Of two that claim the same chip the older one has it.
void BoundPods::keep_claims(NodeId id) {
  if (records_.in(PodState::disputed).empty()) return;
  const Node& node = nodes_.node(id);
  struct Claim {
    std::string uid;
    ChipSet chips;
  };
  std::vector<Claim> claims;
  ChipSet spoken_for;
  for (const Holding* h : ledger_.on(id)) {
    const PodRecord* record = records_.find(h->uid);
    if (record == nullptr || record->dispute == nullptr) continue;
    const Placement& claimed = record->dispute->claimed;
    const std::vector<int> of_others = contested(claimed, id);
    ChipSet chips;
    for (const int index : claimed.chips) {
      const auto slot = node.topology.slot_of(domain::ChipIndex{index});
      if (slot && std::find(of_others.begin(), of_others.end(), index) == of_others.end())
        chips.insert(*slot);
    }
    chips -= spoken_for;
    spoken_for |= chips;
    if (!(chips - h->chips).empty()) claims.push_back({h->uid, chips});
  }
  for (const Claim& claim : claims) {
    const Holding& held = *ledger_.find(claim.uid);
    const ChipSet guessed = held.chips - claim.chips;
    give_way(id, claim.chips - held.chips);
    ledger_.assume(claim.uid, claim.chips | first_of(guessed, held.count() - claim.chips.size()));
  }
}

void BoundPods::publish_disputes() {
  for (PodRecord* record : records_.in(PodState::disputed)) {
    Dispute& dispute = *record->dispute;
    if (dispute.published || clock_.now() < dispute.since + kDisputeLasts) continue;
    dispute.published = true;
    const NodeId node = ledger_.find(record->uid)->node;
    observer_.on(
        PodDisputed{record->key, nodes_.node(node).name, contested(dispute.claimed, node)});
  }
}

void BoundPods::hold_known(const Placement& claimed, Holding holding) {
  const Node& node = nodes_.node(holding.node);
  for (const int index : claimed.chips) {
    const auto slot = node.topology.slot_of(domain::ChipIndex{index});
    if (slot) {
      holding.chips.insert(*slot);
    } else {
      holding.unreported.push_back(index);
    }
  }
  give_way(holding.node, holding.chips);
  ledger_.hold_free(std::move(holding));
}

void BoundPods::settle(NodeId id) {
  end_disputes(id);
  keep_claims(id);
  const Node& node = nodes_.node(id);
  if (!node.has_inventory()) return;
  const ChipSet mig = in_mig_mode(node);
  std::vector<std::string> short_of;
  for (const Holding* h : ledger_.on(id)) {
    const bool elsewhere = h->mig && !mig.empty() && !(h->chips - mig).empty();
    if (h->assumed && (elsewhere || h->chips.size() < h->count())) short_of.push_back(h->uid);
  }
  for (const std::string& uid : short_of) {
    const Holding* h = ledger_.find(uid);
    if (h->mig && !mig.empty()) {
      // Those that other pods' instances share with this one are taken already; whole GPUs are not
      // its own.
      ledger_.assume(uid, first_of((h->chips | (mig - node.taken)) & mig, h->count()));
      continue;
    }
    const int missing = h->count() - h->chips.size();
    while (missing > node.free().size()) {
      const auto& here = ledger_.on(id);
      const auto reservation = std::find_if(here.begin(), here.end(), [](const Holding* other) {
        return !other->bound && !other->chips.empty();
      });
      if (reservation == here.end()) break;
      give_way(id, (*reservation)->chips);
    }
    ledger_.assume(uid, h->chips | guess(id, missing));
  }
}

// The best set of free chips; unhealthy ones only if those are not enough.
ChipSet BoundPods::guess(NodeId id, int count) const {
  const Node& node = nodes_.node(id);
  const ChipSet free = node.free();
  if (count <= free.size()) {
    const solver::Choice best = node.wiring->choose({free, {}, {}, count, false});
    if (best.fits) return best.chips;
  }
  ChipSet some;
  for (const ChipSet from : {free, node.topology.all() - node.taken - free}) {
    for (const int slot : from) {
      if (some.size() < count) some.insert(slot);
    }
  }
  return some;
}

// Restores the decision as far as the pod's placement tells it.
void BoundPods::recall(const ClusterPod& pod, const Placement& claimed) {
  const Holding& holding = *ledger_.find(pod.request.uid);
  Decision d;
  d.id = claimed.decision;
  d.pod = pod.request.key;
  d.uid = pod.request.uid;
  d.resource = pod.request.resource;
  d.node = holding.node;
  d.chips = holding.chips;
  d.indices = claimed.chips;
  d.gbps = claimed.gbps;
  d.distributed = pod.request.distributed;
  d.time = claimed.time;
  decisions_.continue_after(d.id);
  PodRecord& record = *records_.find(d.uid);
  record.decision = std::make_unique<Decision>(std::move(d));
  complete_recalled(holding.node);
  observer_.on(PodPlaced{decisions_.placed_pod_of(*record.decision)});
}

void BoundPods::complete_recalled(NodeId id) {
  const Node& node = nodes_.node(id);
  if (!node.has_inventory()) return;
  for (const Holding* h : ledger_.on(id)) {
    PodRecord* record = records_.find(h->uid);
    if (record == nullptr || record->decision == nullptr || record->decision->best_gbps > 0)
      continue;
    Decision& d = *record->decision;
    d.best_gbps =
        std::max(d.gbps, node.wiring->best_gbps(static_cast<int>(d.indices.size()), d.distributed));
  }
}

void BoundPods::found(const ClusterPod& pod, NodeId node, const Placement* claimed) {
  const std::string& uid = pod.request.uid;
  Holding holding = holding_of(pod, node);
  if (claimed != nullptr && contested(*claimed, node).empty()) {
    hold_known(*claimed, std::move(holding));
    records_.on(uid, PodEvent::found_known);
    recall(pod, *claimed);
  } else {
    assume(pod, claimed);
    holding.assumed = true;
    holding.unplaced = pod.request.chips;
    ledger_.hold_free(std::move(holding));  // it takes no chip yet
  }
  if (is_member(pod.request) && !ledger_.find(uid)->group.empty())
    groups_.join(ledger_.find(uid)->group, uid, node);
  settle(node);
}

// Takes these chips from reservations and from assumed holdings.
void BoundPods::give_way(NodeId node, ChipSet chips) {
  std::vector<std::string> guessed;
  for (const Holding* h : ledger_.on(node)) {
    if (h->assumed && h->chips.intersects(chips)) guessed.push_back(h->uid);
  }
  for (const std::string& uid : guessed) ledger_.assume(uid, ledger_.find(uid)->chips - chips);
  reservations_.give_way(node, chips);
}

}  // namespace chipweave::sched
