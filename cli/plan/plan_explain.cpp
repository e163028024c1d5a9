#include "cli/plan/plan_explain.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "cli/plan/take_chips.hpp"
#include "common/base/near_names.hpp"
#include "common/base/text.hpp"
#include "common/solver/gang/planner.hpp"

namespace chipweave::cli {
namespace {

using codec::PlanExplanation;
using codec::PlanOutcome;
using codec::PlanRequest;
using domain::Gang;
using domain::GangNodeId;
using domain::kNoLevel;
using Decided = PlanEngine::Decided;
using Prepared = PlanEngine::Prepared;

// As the planner orders plans: more pods, fewer domains of the coarsest level, …, fewer nodes, more
// GB/s.
bool better(const PlanOutcome& a, const PlanOutcome& b) {
  if (a.placed != b.placed) return a.placed > b.placed;
  if (a.domains != b.domains) return a.domains < b.domains;
  if (a.nodes != b.nodes) return a.nodes < b.nodes;
  return a.gbps.value_or(0) > b.gbps.value_or(0);
}

std::set<GangNodeId> nodes_of(const domain::Plan& plan) {
  std::set<GangNodeId> out;
  for (const domain::PlannedPod& pod : plan.pods) out.insert(pod.node);
  return out;
}

class Explainer {
 public:
  Explainer(PlanEngine& engine, const PlanRequest& request, const Prepared& prepared,
            const Decided& decided)
      : engine_(engine),
        request_(request),
        prepared_(prepared),
        decided_(decided),
        used_(nodes_of(decided.plan)) {
    out_.outcome = outcome_of(decided);
  }

  Result<PlanExplanation> explain(const std::vector<std::string>& if_fails) {
    if (!decided_.plan.fits) {
      relax();
      return std::move(out_);
    }
    auto failing = failing_nodes(if_fails);
    if (!failing) return std::move(failing).error();
    find_bounds();
    find_runner_up();
    relax();
    fail(*failing);
    return std::move(out_);
  }

 private:
  // A request that cannot be planned counts as one that does not fit.
  Decided decide(const PlanRequest& request) {
    auto prepared = engine_.prepare(request);
    auto decided = prepared ? PlanEngine::decide(request, *prepared)
                            : Result<Decided>(std::move(prepared).error());
    if (decided) return *std::move(decided);
    Decided none;
    none.plan = domain::refused_plan(decided.error().text());
    return none;
  }

  // ---- what bound it ----

  void find_bounds() {
    const Gang& gang = request_.gang;
    const bool alike = gang.sets.empty() && gang.pod_chips.empty();
    std::int64_t asked = 0;
    for (int pod = 0; pod < gang.pods && !alike && gang.sets.empty(); ++pod)
      asked += gang.chips_of(pod, domain::kNoSet);
    for (const domain::PodSet& set : gang.sets) asked += std::int64_t{set.pods} * set.chips_per_pod;
    if (alike) asked = static_cast<std::int64_t>(decided_.plan.pods.size());
    for (std::size_t level = 0; level < request_.levels.size(); ++level) {
      if (decided_.plan.domains[level] < 2) continue;
      PlanExplanation::Bound bound;
      bound.level = request_.levels[level];
      bound.domains = decided_.plan.domains[level];
      bound.asked = asked;
      bound.in_chips = !alike;
      for (const auto& [domain, room] : rooms(static_cast<int>(level), alike)) {
        if (room <= bound.room) continue;
        bound.room = room;
        bound.roomiest = solver::path_text(prepared_.fabric, domain);
      }
      out_.bounds.push_back(std::move(bound));
    }
  }

  // By domain of the level: pods that it has room for, or free chips.
  std::map<solver::DomainId, std::int64_t> rooms(int level, bool in_pods) const {
    std::map<solver::DomainId, std::int64_t> out;
    for (solver::FabricNodeId id = 0; id < prepared_.fabric.node_numbers(); ++id) {
      const solver::FabricNode& node = prepared_.fabric.node(id);
      if (!node.in_use || !node.healthy) continue;
      const int chips = request_.gang.chips_per_pod;
      const int pods = chips > 0 ? std::min(node.free / chips, node.max_pods) : node.max_pods;
      out[prepared_.fabric.domain_of(id, level)] += in_pods ? pods : node.free;
    }
    return out;
  }

  // ---- the runner-up ----

  // Of the plan's nodes one for each pool and state: without any other of them the plan is the
  // same.
  std::vector<GangNodeId> distinct_nodes() const {
    using State = std::tuple<solver::DomainId, int, int, std::optional<solver::NodeState>, int>;
    std::set<State> seen;
    std::map<GangNodeId, int> pods;
    for (const domain::PlannedPod& pod : decided_.plan.pods) ++pods[pod.node];
    std::vector<GangNodeId> out;
    for (const GangNodeId id : used_) {
      const solver::FabricNode& node = prepared_.fabric.node(id);
      const auto machine = prepared_.machines.find(id);
      State state{prepared_.fabric.pool_of(id), node.free, node.max_pods, std::nullopt, pods[id]};
      if (machine != prepared_.machines.end()) std::get<3>(state) = state_of(machine->second);
      if (request_.gang.allowed.empty() && !seen.insert(std::move(state)).second) continue;
      out.push_back(id);
    }
    return out;
  }

  void find_runner_up() {
    const std::vector<GangNodeId> nodes = distinct_nodes();
    const std::size_t tried = std::min(nodes.size(), kMaxNodesTried);
    out_.not_tried = nodes.size() - tried;
    std::optional<Decided> best;
    PlanRequest changed = request_;
    for (std::size_t i = 0; i < tried; ++i) {
      changed.nodes[nodes[i]].healthy = false;
      Decided other = decide(changed);
      changed.nodes[nodes[i]].healthy = true;
      if (!other.plan.fits) continue;
      if (!best || better(outcome_of(other), outcome_of(*best))) best = std::move(other);
    }
    if (!best) return;
    PlanExplanation::RunnerUp& to = out_.runner_up.emplace();
    to.outcome = outcome_of(*best);
    const std::set<GangNodeId> others = nodes_of(best->plan);
    for (const GangNodeId id : used_)
      if (!others.contains(id)) to.without.push_back(request_.nodes[id].name);
    for (const GangNodeId id : others)
      if (!used_.contains(id)) to.instead.push_back(request_.nodes[id].name);
  }

  // ---- constraints ----

  void add_relaxed(std::string constraint, const PlanRequest& changed) {
    out_.relaxed.push_back({std::move(constraint), outcome_of(decide(changed))});
  }

  void relax() {
    relax_levels();
    relax_sets();
    relax_rest();
    relax_nodes();
  }

  void relax_levels() {
    const Gang& gang = request_.gang;
    const auto name = [this](int level) {
      return request_.levels[static_cast<std::size_t>(level)];
    };
    PlanRequest changed = request_;
    for (int level = gang.required_level - 1; level >= kNoLevel && gang.required_level != kNoLevel;
         --level) {
      changed.gang.required_level = level;
      add_relaxed("required_level " + name(gang.required_level) +
                      (level == kNoLevel ? "" : ", " + name(level) + " instead"),
                  changed);
    }
    changed.gang.required_level = gang.required_level;
    for (std::size_t i = 0; i < gang.slices.size(); ++i) {
      changed.gang.slices.erase(changed.gang.slices.begin() + static_cast<std::ptrdiff_t>(i));
      add_relaxed(concat("slices ", name(gang.slices[i].level), " of ", gang.slices[i].size),
                  changed);
      changed.gang.slices = gang.slices;
    }
  }

  void relax_sets() {
    const Gang& gang = request_.gang;
    PlanRequest changed = request_;
    for (std::size_t i = 0; i < gang.sets.size(); ++i) {
      const domain::PodSet& set = gang.sets[i];
      const std::string whose = concat(gang.roles ? "role " : "subgroup ", set.name, ": ");
      if (set.required_level != kNoLevel) {
        changed.gang.sets[i].required_level = kNoLevel;
        add_relaxed(whose + "required_level " +
                        request_.levels[static_cast<std::size_t>(set.required_level)],
                    changed);
        changed.gang.sets[i] = set;
      }
      if (!set.slices.empty()) {
        changed.gang.sets[i].slices.clear();
        add_relaxed(whose + "slices", changed);
        changed.gang.sets[i] = set;
      }
    }
  }

  void relax_rest() {
    const Gang& gang = request_.gang;
    PlanRequest changed = request_;
    if (!decided_.plan.fits && gang.min_member > 1) {
      changed.gang.min_member = 1;
      for (domain::PodSet& set : changed.gang.sets) set.own_min = set.min_member = 0;
      add_relaxed("min_member " + std::to_string(gang.min_member), changed);
      changed.gang = gang;
    }
    if (gang.spare) {
      changed.gang.spare.reset();
      add_relaxed("keep_spare", changed);
      changed.gang = gang;
    }
    if (gang.policy == domain::GangPolicy::even) {
      changed.gang.policy = domain::GangPolicy::compact;
      add_relaxed("policy even", changed);
      changed.gang = gang;
    }
    if (!gang.allowed.empty()) {
      changed.gang.allowed.clear();
      add_relaxed("allowed_nodes", changed);
      changed.gang = gang;
    }
  }

  // What the network's nodes hold back: changes the nodes for which `applies`.
  template <class Applies, class Change>
  void relax_each(const std::string& constraint, const Applies& applies, const Change& change) {
    PlanRequest changed = request_;
    std::size_t count = 0;
    for (codec::PlanNode& node : changed.nodes) {
      if (!applies(node)) continue;
      change(node);
      ++count;
    }
    if (count > 0)
      add_relaxed(concat(constraint, " of ", count, count == 1 ? " node" : " nodes"), changed);
  }

  void relax_nodes() {
    relax_each(
        "max_pods", [](const codec::PlanNode& node) { return node.max_pods >= 0; },
        [](codec::PlanNode& node) { node.max_pods = -1; });
    relax_each(
        "unhealthy state",
        [](const codec::PlanNode& node) { return !node.healthy && !node.name.starts_with('\x01'); },
        [](codec::PlanNode& node) { node.healthy = true; });
    relax_each(
        "down_nics", [](const codec::PlanNode& node) { return !node.down_nics.empty(); },
        [](codec::PlanNode& node) { node.down_nics.clear(); });
    relax_each(
        "traffic of other jobs",
        [](const codec::PlanNode& node) {
          return node.loaded_chips ? !node.loaded_chips->empty() : node.free_chips.has_value();
        },
        [](codec::PlanNode& node) { node.loaded_chips.emplace(); });
  }

  // ---- failures ----

  Result<std::vector<GangNodeId>> failing_nodes(const std::vector<std::string>& names) const {
    std::vector<GangNodeId> out;
    std::map<std::string, GangNodeId, std::less<>> by_name;
    std::vector<std::string_view> known;
    for (const GangNodeId id : used_) {
      by_name.emplace(request_.nodes[id].name, id);
      known.push_back(request_.nodes[id].name);
    }
    for (const std::string& name : names) {
      const auto at = by_name.find(name);
      if (at == by_name.end())
        return make_error(Errc::invalid_argument, unknown_name("node of the plan", name, known));
      out.push_back(at->second);
    }
    if (names.empty()) out.assign(used_.begin(), used_.end());
    return out;
  }

  void fail(const std::vector<GangNodeId>& nodes) {
    const Gang& gang = request_.gang;
    if (request_.vendor) out_.no_failures = "the vendor's scheduler repairs by rules of its own";
    if (!gang.existing.empty()) out_.no_failures = "pods of the gang run already";
    if (static_cast<int>(decided_.plan.pods.size()) < gang.pods &&
        !(gang.sets.empty() && gang.pod_chips.empty()))
      out_.no_failures = "not all of its pods, which differ, are placed";
    if (!out_.no_failures.empty()) return;
    const PlanRequest running = running_request();
    const std::size_t tried = std::min(nodes.size(), kMaxNodesTried);
    out_.not_tried = std::max(out_.not_tried, nodes.size() - tried);
    for (std::size_t i = 0; i < tried; ++i) {
      PlanRequest changed = running;
      changed.gang.failed = std::vector<GangNodeId>{nodes[i]};
      changed.nodes[nodes[i]].healthy = false;
      const Decided repaired = decide(changed);
      PlanExplanation::Failure& to = out_.failures.emplace_back();
      to.node = request_.nodes[nodes[i]].name;
      to.outcome = outcome_of(repaired);
      std::set<GangNodeId> after = used_;
      after.erase(nodes[i]);
      for (const GangNodeId id : nodes_of(repaired.plan)) {
        to.moves_to.push_back(request_.nodes[id].name);
        after.insert(id);
      }
      if (to.outcome.fits) to.outcome.nodes = static_cast<int>(after.size());
    }
  }

  // The plan as a gang that runs: its pods hold their chips.
  PlanRequest running_request() const {
    PlanRequest out = request_;
    out.gang.pods = static_cast<int>(decided_.plan.pods.size());
    for (std::size_t i = 0; i < decided_.plan.pods.size(); ++i) {
      const domain::PlannedPod& pod = decided_.plan.pods[i];
      domain::Running& here = out.gang.existing[pod.node];
      ++here.pods;
      here.ranks.push_back(pod.rank);
      here.numbers.push_back(pod.pod);
      if (i < decided_.details.chips.size())
        here.chips.insert(here.chips.end(), decided_.details.chips[i].begin(),
                          decided_.details.chips[i].end());
    }
    take_chips(decided_, request_, prepared_, out);
    return out;
  }

  PlanEngine& engine_;
  const PlanRequest& request_;
  const Prepared& prepared_;
  const Decided& decided_;
  const std::set<GangNodeId> used_;
  PlanExplanation out_;
};

}  // namespace

Result<PlanExplanation> explain_plan(PlanEngine& engine, const PlanRequest& request,
                                     const Prepared& prepared, const Decided& decided,
                                     const std::vector<std::string>& if_fails) {
  return Explainer(engine, request, prepared, decided).explain(if_fails);
}

}  // namespace chipweave::cli
