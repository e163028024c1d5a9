#include "scheduler-plugin/app/claim_planner.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "common/base/text.hpp"

namespace chipweave::sched {
namespace {

// Nodes whose devices one plan tries, best first.
constexpr std::size_t kMaxNodesTried = 512;
constexpr std::size_t kMaxReasons = 4;

// In the ledger; no pod has such a uid.
std::string plan_of(const std::string& claim_uid) { return "plan for claim " + claim_uid; }

int chips_of(const WantedClaims& wanted) {
  int all = 0;
  for (const WantedClaim& claim : wanted.claims)
    all = std::accumulate(claim.counts.begin(), claim.counts.end(), all);
  return all;
}

}  // namespace

// The chips of the node, divided among the requests of all claims.
std::optional<ClaimPlan> ClaimPlanner::plan_on(const WantedClaims& wanted, NodeId id,
                                               const std::map<int, Attributes>& devices,
                                               DivisionWork& work) const {
  const Node& node = nodes_.node(id);
  DivisionRequest request;
  const ChipSet free = node.free();
  for (const auto& [chip, attributes] : devices) {
    const auto slot = node.topology.slot_of(domain::ChipIndex{chip});
    if (!slot || !free.contains(*slot)) continue;
    request.usable.insert(*slot);
    request.attributes[*slot] = attributes;
  }
  for (const WantedClaim& claim : wanted.claims) {
    const std::size_t first = request.counts.size();
    request.counts.insert(request.counts.end(), claim.counts.begin(), claim.counts.end());
    for (EqualAttribute equal : claim.equal) {
      for (std::size_t& i : equal.requests) i += first;
      request.equal.push_back(std::move(equal));
    }
  }
  const auto division = divide(*node.wiring, request, work);
  if (!division) return std::nullopt;
  ClaimPlan plan;
  plan.node = id;
  plan.gbps = division->gbps;
  plan.best_gbps = node.wiring->best_gbps(chips_of(wanted), false);
  auto next = division->chips.begin();
  for (const WantedClaim& claim : wanted.claims) {
    auto& of_claim = plan.chips.emplace_back();
    for (std::size_t i = 0; i < claim.counts.size(); ++i)
      of_claim.push_back(node.topology.indices(*next++));
  }
  return plan;
}

std::optional<ClaimPlan> ClaimPlanner::plan_with(const WantedClaims& wanted,
                                                 const PodRequest& request,
                                                 std::span<const std::string_view> nodes,
                                                 const DevicesOf& devices, std::string& why) {
  const Evaluation& s = evaluator_.evaluate(contexts_.of(request, nullptr), nodes);
  if (s.fits == 0) {
    std::set<std::string> reasons{rejection_summary(s)};
    for (const NodeId id : s.nodes) {
      if (id == kNoNode || reasons.size() == kMaxReasons) continue;
      const auto& withheld = nodes_.node(id).withheld;
      if (!withheld.empty()) reasons.insert(withheld.front().text);
    }
    why = joined(reasons, "; ");
    return std::nullopt;
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (s.of(i).fits()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return s.score(a) > s.score(b); });
  if (order.size() > kMaxNodesTried) order.resize(kMaxNodesTried);
  std::vector<NodeId> ids;
  ids.reserve(order.size());
  for (const std::size_t i : order) ids.push_back(s.nodes[i]);
  std::set<std::string> reasons;
  DivisionWork work;
  for (const NodeId id : ids) {
    const auto offered = devices(nodes_.node(id).name);
    if (!offered) {
      reasons.insert(offered.error().message);
      continue;
    }
    if (auto plan = plan_on(wanted, id, *offered, work)) return plan;
    reasons.insert(work.is_over() ? "the constraints of the claims leave too much to try"
                                  : "no free devices keep the constraints of the claims");
    if (work.is_over()) break;
  }
  why = joined(reasons, "; ");
  return std::nullopt;
}

Result<ClaimPlan> ClaimPlanner::plan(const WantedClaims& wanted,
                                     std::span<const std::string_view> nodes,
                                     const DevicesOf& devices) {
  PodRequest request;
  request.key = wanted.pod;
  request.chips = chips_of(wanted);
  request.needs = wanted.needs;
  std::set<std::string> resources;
  if (!wanted.resource.empty()) resources.insert(wanted.resource);
  std::vector<std::string_view> roomy;
  bool full = false;
  for (const std::string_view name : nodes) {
    const NodeId id = nodes_.find(name);
    if (id == kNoNode || !nodes_.node(id).has_inventory()) continue;
    if (!nodes_.node(id).room.fits(wanted.needs)) {
      full = true;
      continue;
    }
    roomy.push_back(name);
    const auto& offered = nodes_.node(id).resources;
    if (wanted.resource.empty()) resources.insert(offered.begin(), offered.end());
  }
  std::set<std::string> reasons;
  if (full) reasons.insert("not enough CPU or memory");
  for (const std::string& resource : resources) {
    request.resource = resource;
    std::string why;
    if (auto plan = plan_with(wanted, request, roomy, devices, why)) return *std::move(plan);
    if (!why.empty()) reasons.insert(std::move(why));
  }
  if (reasons.empty()) reasons.insert("no node that the pod may run on has reported its chips");
  return make_error(Errc::conflict, joined(reasons, "; "));
}

Result<void> ClaimPlanner::hold(const WantedClaims& wanted, const ClaimPlan& plan) {
  const domain::NodeTopology& topology = nodes_.node(plan.node).topology;
  std::vector<std::string> held;
  for (std::size_t i = 0; i < wanted.claims.size(); ++i) {
    Holding holding;
    holding.uid = plan_of(wanted.claims[i].uid);
    holding.key = {wanted.claims[i].key.ns, wanted.claims[i].key.name + " (claim)"};
    holding.node = plan.node;
    holding.spare = true;  // no pod of the ledger holds it
    holding.expires = Clock::Steady::max();
    for (const std::vector<int>& chips : plan.chips[i]) {
      for (const int chip : chips) holding.chips.insert(*topology.slot_of(domain::ChipIndex{chip}));
    }
    auto result = ledger_.hold(std::move(holding));
    if (result) {
      held.push_back(wanted.claims[i].uid);
      continue;
    }
    for (const std::string& uid : held) drop(uid);
    return result;
  }
  return {};
}

bool ClaimPlanner::holds(const std::string& claim_uid) const {
  return ledger_.find(plan_of(claim_uid)) != nullptr;
}

void ClaimPlanner::note(const std::string& pod_uid, const std::string& text) {
  if (text.empty()) {
    state_.claim_notes.erase(pod_uid);
  } else {
    state_.claim_notes[pod_uid] = text;
  }
}

void ClaimPlanner::drop(const std::string& claim_uid) {
  if (ledger_.drop(plan_of(claim_uid))) ++state_.freed;
}

}  // namespace chipweave::sched
