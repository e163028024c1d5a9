#include "scheduler-plugin/app/kubelet_truth.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace chipweave::sched {
namespace {

using Container = domain::GivenChips::Container;

// A pod that was deleted and recreated has the name of another one, of which the kubelet may have
// spoken. One that runs has its devices, and what its claim says is surer than a name.
bool is_of(const Container& container, const ClusterPod& pod, bool has_claim) {
  if (!container.pod_uid.empty()) return container.pod_uid == pod.request.uid;
  return !has_claim && pod.started && container.ns == pod.request.key.ns &&
         container.pod == pod.request.key.name;
}

}  // namespace

Placement KubeletTruth::placement_of(const Decision& d) const {
  return {nodes_.node(d.node).name, d.uid, d.resource, d.indices, d.gbps, d.id, d.time};
}

// Init containers hand their chips on to the other ones: all of a pod's chips are the union.
std::optional<Placement> KubeletTruth::given_to(const ClusterPod& pod, const Node& node) const {
  std::set<int> chips;
  const auto claimed = allocated_.find(pod.request.uid);
  const bool has_claim = claimed != allocated_.end() && claimed->second.node == node.name;
  static const std::vector<Container> kNone;
  for (const Container& container : node.given ? node.given->containers : kNone) {
    if (container.resource != pod.request.resource || !is_of(container, pod, has_claim)) continue;
    if (container.parts) return std::nullopt;
    for (const domain::ChipIndex chip : container.chips) chips.insert(chip.value);
  }
  if (!chips.empty()) return complete(pod, node, {chips.begin(), chips.end()});
  if (!has_claim) return std::nullopt;
  return complete(pod, node, claimed->second.chips);
}

// nullopt: these are not all chips of the pod. It is being admitted, container by container.
std::optional<Placement> KubeletTruth::complete(const ClusterPod& pod, const Node& node,
                                                std::vector<int> chips) const {
  Placement out;
  out.node = node.name;
  out.uid = pod.request.uid;
  out.resource = pod.request.resource;
  out.chips = std::move(chips);
  if (!can_be_of(out, pod)) return std::nullopt;
  ChipSet slots;
  for (const int chip : out.chips) {
    if (const auto slot = node.topology.slot_of(domain::ChipIndex{chip})) slots.insert(*slot);
  }
  if (node.has_inventory()) out.gbps = node.wiring->gbps(slots);
  return out;
}

const Placement* KubeletTruth::of(const ClusterPod& pod, const Placement* chosen) {
  PodRecord* record = records_.find(pod.request.uid);
  const NodeId id = nodes_.find(pod.node);
  if (record == nullptr || id == kNoNode) return nullptr;
  if (auto given = given_to(pod, nodes_.node(id))) {
    remember(*record, std::move(*given));
    // the kubelet was faster than the watch of pods
    if (chosen != nullptr && chosen->chips != record->given->chips.chips && !record->given->chosen)
      drifted(pod, *record->given, *chosen);
  }
  return record->given == nullptr ? nullptr : &record->given->chips;
}

// Returns whether these are other chips than the kubelet had given before.
bool KubeletTruth::remember(PodRecord& record, Placement given) {
  if (record.given == nullptr) record.given = std::make_unique<GivenToPod>();
  GivenToPod& known = *record.given;
  const bool other = known.chips.chips != given.chips;
  if (known.chosen) {
    given.decision = known.chosen->decision;
    given.time = known.chosen->time;
    if (known.chosen->chips == given.chips) known.chosen.reset();
  }
  known.chips = std::move(given);
  return other;
}

void KubeletTruth::drifted(const ClusterPod& pod, GivenToPod& given, const Placement& chosen) {
  given.chosen = chosen;
  given.chips.decision = chosen.decision;
  given.chips.time = chosen.time;
  observer_.on(PodDrifted{pod.request.key, pod.request.uid, pod.node, chosen.chips,
                          given.chips.chips, chosen.gbps, given.chips.gbps,
                          authority_.cannot_decide().empty()});
}

void KubeletTruth::allocated(const Placement& placement) {
  allocated_.insert_or_assign(placement.uid, placement);
  const PodRecord* record = records_.find(placement.uid);
  const ClusterPod* pod = record == nullptr ? nullptr : cluster_.find(record->key);
  const NodeId id = nodes_.find(placement.node);
  if (pod == nullptr || pod->node != placement.node || id == kNoNode) return;
  if (auto correction = correction_of(*pod, id)) apply(id, {std::move(*correction)});
}

void KubeletTruth::released(const std::string& uid) {
  if (allocated_.erase(uid) == 0) return;
  PodRecord* record = records_.find(uid);
  const ClusterPod* pod = record == nullptr ? nullptr : cluster_.find(record->key);
  if (pod == nullptr || record->given == nullptr) return;
  const NodeId on = nodes_.find(pod->node);
  if (on != kNoNode && given_to(*pod, nodes_.node(on))) return;
  const std::optional<Placement> chosen = record->given->chosen;
  record->given.reset();
  const Holding* held = ledger_.find(uid);
  if (pod->node.empty() || record->in_flight != nullptr || held == nullptr || !held->bound) return;
  const NodeId id = held->node;
  // one with a placement of its own keeps these chips
  if (!chosen && record->decision != nullptr && !record->decision->id.empty()) return;
  drop_holding(uid);
  bound_pods_.found(*pod, id, chosen ? &*chosen : nullptr);
}

const ClusterPod* KubeletTruth::pod_of(const Container& container) const {
  if (container.pod_uid.empty()) return cluster_.find({container.ns, container.pod});
  const PodRecord* record = records_.find(container.pod_uid);
  return record == nullptr ? nullptr : cluster_.find(record->key);
}

void KubeletTruth::reported(NodeId id) {
  const Node& node = nodes_.node(id);
  if (!node.given) return;
  std::set<std::string> seen;
  std::vector<Correction> corrections;
  for (const Container& container : node.given->containers) {
    const ClusterPod* pod = pod_of(container);
    if (pod == nullptr || pod->node != node.name || !seen.insert(pod->request.uid).second) continue;
    if (auto correction = correction_of(*pod, id)) corrections.push_back(std::move(*correction));
  }
  if (!corrections.empty()) apply(id, std::move(corrections));
}

// nullopt: the pod has the chips that it is thought to have, or the kubelet has not said.
std::optional<KubeletTruth::Correction> KubeletTruth::correction_of(const ClusterPod& pod,
                                                                    NodeId id) {
  const std::string& uid = pod.request.uid;
  const Holding* held = ledger_.find(uid);
  PodRecord* record = records_.find(uid);
  // One whose binding is in flight is not known to be bound yet; its end asks again.
  if (held == nullptr || !held->bound || record->in_flight != nullptr) return std::nullopt;
  auto given = given_to(pod, nodes_.node(id));
  if (!given) return std::nullopt;
  const bool corrected = record->given != nullptr && record->given->chosen;
  const bool other = remember(*record, std::move(*given));
  const GivenToPod& known = *record->given;
  if (!held->assumed && bound_pods_.matches(*held, known.chips)) return std::nullopt;
  Correction out{uid, known.chips, std::nullopt};
  if (corrected) {
    // what is thought to be its decision are chips that it was given before
    if (other) out.chosen = known.chosen;
  } else if (record->decision != nullptr) {
    out.chosen = placement_of(*record->decision);
    out.given.decision = out.chosen->decision;
    out.given.time = out.chosen->time;
  } else if (record->dispute != nullptr && !record->dispute->claimed.decision.empty()) {
    // its chips had gone to another pod before it got others
    out.chosen = record->dispute->claimed;
  }
  return out;
}

void KubeletTruth::bound(const ClusterPod& pod) {
  const NodeId id = nodes_.find(pod.node);
  if (id == kNoNode) return;
  if (auto correction = correction_of(pod, id)) apply(id, {std::move(*correction)});
}

// Pods that are thought to have chips that the kubelet has given to others, as long as it has not
// given them these, too.
std::vector<std::string> KubeletTruth::displaced_by(const std::vector<Correction>& corrections,
                                                    NodeId id) const {
  ChipSet given;
  std::set<std::string_view> corrected;
  for (const Correction& one : corrections) {
    corrected.insert(one.uid);
    for (const int chip : one.given.chips) {
      const auto slot = nodes_.node(id).topology.slot_of(domain::ChipIndex{chip});
      if (slot) given.insert(*slot);
    }
  }
  std::vector<std::string> out;
  for (const Holding* held : ledger_.on(id)) {
    if (!held->bound || held->assumed || !held->chips.intersects(given)) continue;
    const PodRecord* record = records_.find(held->uid);
    if (corrected.contains(held->uid) || record == nullptr || record->decision == nullptr) continue;
    if (record->given == nullptr) out.push_back(held->uid);
  }
  return out;
}

void KubeletTruth::apply(NodeId id, std::vector<Correction> corrections) {
  const std::vector<std::string> displaced = displaced_by(corrections, id);
  std::vector<std::pair<const ClusterPod*, Placement>> claims;
  for (const std::string& uid : displaced) {
    const PodRecord& record = *records_.find(uid);
    claims.emplace_back(cluster_.find(record.key), placement_of(*record.decision));
    drop_holding(uid);
  }
  for (const Correction& one : corrections) drop_holding(one.uid);
  for (Correction& one : corrections) {
    PodRecord& record = *records_.find(one.uid);
    const ClusterPod& pod = *cluster_.find(record.key);
    bound_pods_.found(pod, id, &one.given);
    if (!one.chosen) continue;
    drifted(pod, *record.given, *one.chosen);
  }
  for (const auto& [pod, claim] : claims) bound_pods_.found(*pod, id, &claim);
}

}  // namespace chipweave::sched
