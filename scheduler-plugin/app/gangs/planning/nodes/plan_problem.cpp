#include "scheduler-plugin/app/gangs/planning/nodes/plan_problem.hpp"

#include <algorithm>

namespace chipweave::sched {

using solver::FabricNodeId;

PlanProblem::~PlanProblem() {
  for (const FabricNodeId node : left_out_) fabric.set_healthy(node, true);
  for (const auto& [node, chips] : raised_) fabric.set_free(node, chips);
  for (const auto& [node, machine] : machines) fabric.set_max_pods(node, solver::kUnlimitedPods);
  fabric.set_chip_fit(nullptr);
}

void PlanProblem::take(const GangToPlan& asked, const NodeTable& nodes) {
  gang = asked.layout->request;
  if (gang.sets.empty()) {
    gang.pods = split(gang.pods, nullptr, asked, nodes);
  } else {
    for (domain::PodSet& set : gang.sets) set.pods = split(set.pods, &set, asked, nodes);
    gang.pods = static_cast<int>(open.size());
  }
  gang.pod_chips = std::move(sizes_);
  gang.min_member = std::max(gang.min_member - unknown_, 0);
}

// The next pods, of one set; returns how many need a place.
int PlanProblem::split(int pods, domain::PodSet* set, const GangToPlan& asked,
                       const NodeTable& nodes) {
  int left = 0;
  for (int i = 0; i < pods; ++i, ++slot_) {
    const auto& seat = asked.seated[slot_];
    if (!seat) {
      open.push_back(slot_);
      if (!gang.pod_chips.empty()) sizes_.push_back(gang.pod_chips[slot_]);
      ++left;
      continue;
    }
    const FabricNodeId at =
        seat->node == kNoNode ? solver::kNowhere : fabric.find(nodes.node(seat->node).name);
    unknown_ += at == solver::kNowhere ? 1 : 0;
    if (at == solver::kNowhere) continue;
    domain::Running& running = gang.existing[at];
    ++running.pods;
    running.ranks.push_back(static_cast<int>(slot_));
    if (set != nullptr) ++set->existing[at];
  }
  return left;
}

void PlanProblem::leave_out(FabricNodeId node) {
  fabric.set_healthy(node, false);
  left_out_.push_back(node);
}

void PlanProblem::raise(FabricNodeId node, int chips) {
  if (fabric.node(node).free == chips) return;
  raised_.emplace_back(node, fabric.node(node).free);
  fabric.set_free(node, chips);
}

void PlanProblem::keep_apart(const SlotNodes& may) {
  if (may.alike()) return;
  std::vector<std::vector<FabricNodeId>> nodes(may.kinds());
  for (std::size_t kind = 0; kind < nodes.size(); ++kind) {
    const NodeSet* only = may.nodes_of(kind);
    for (FabricNodeId at = 0; only != nullptr && at < fabric.node_numbers(); ++at) {
      if (fabric.node(at).in_use && (*only)[resource.node_of(at)]) nodes[kind].push_back(at);
    }
  }
  for (std::size_t pod = 0; pod < open.size(); ++pod) {
    const std::size_t kind = may.kind(pod);
    if (may.nodes_of(kind) != nullptr) gang.allowed[static_cast<int>(pod)] = nodes[kind];
  }
}

}  // namespace chipweave::sched
