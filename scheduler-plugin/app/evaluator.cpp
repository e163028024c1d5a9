// Many nodes: one verdict for each distinct state.
#include "scheduler-plugin/app/evaluator.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace chipweave::sched {
namespace {

// Kinds of requests whose verdicts are cached; the least recently used one is dropped first.
constexpr std::size_t kMaxTables = 64;

}  // namespace

// The verdict table for this kind of request.
VerdictTable& Evaluator::table_of(const RequestContext& context) {
  const RequestKind kind = kind_of(context, demand_.demand().knows_rooms());
  auto it = std::find_if(tables_.begin(), tables_.end(),
                         [&](const VerdictTable& t) { return t.kind() == kind; });
  if (it == tables_.end()) {
    if (tables_.size() >= kMaxTables) tables_.pop_back();
    it = tables_.emplace(tables_.end(), kind);
  }
  tables_.splice(tables_.begin(), tables_, it);
  return tables_.front();
}

const Evaluation& Evaluator::evaluate(const RequestContext& context,
                                      std::span<const std::string_view> names) {
  Evaluation& s = evaluation_;
  nodes_.find_all(names, s.nodes);
  s.verdict.resize(names.size());
  s.fits = 0;
  s.best_node = kNoNode;
  if (context.pod->chips == 0) {
    accept_all();
    return s;
  }
  VerdictTable& table = table_of(context);
  table.begin(nodes_, demand_.version());
  nodes_.sort_names();
  const bool alike = context.only == kNoNode && context.part == nullptr &&
                     (context.of_job == nullptr || context.of_job->empty());
  const bool by_place = context.only == kNoNode &&
                        nearness_.begin(context.pod->resource, context.of_job, context.own);
  std::span<Verdict> verdicts = table.verdicts();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const NodeId node = s.nodes[i];
    const NodeTable::Standing standing =
        node == kNoNode ? NodeTable::Standing() : nodes_.standing(node);
    if (standing.state == kNoState) {
      s.verdict[i] = VerdictTable::kUnknownNode;
      ++verdicts[VerdictTable::kUnknownNode].count;
      continue;
    }
    std::uint32_t number = alike ? table.at(standing.state) : VerdictTable::kOpen;
    if (number == VerdictTable::kOpen) number = judge(context, node, table);
    if (by_place && table.verdicts()[number].fits())
      number = nearness_.verdict_of(node, number, table);
    verdicts = table.verdicts();
    s.verdict[i] = number;
    Verdict& v = verdicts[number];
    ++v.count;
    if (standing.order < v.first_order) {
      v.first = node;
      v.first_order = standing.order;
    }
  }
  rank_nodes(context, table);
  return s;
}

// Nothing to choose: nodes without inventory are fine too. The scores keep the pod's CPU and memory
// away from free chips.
void Evaluator::accept_all() {
  Evaluation& s = evaluation_;
  for (std::size_t level = 0; level < nothing_asked_.size(); ++level) {
    nothing_asked_[level].count = 0;
    nothing_asked_[level].level = static_cast<int>(level);
  }
  s.fits = s.nodes.size();
  s.verdicts = nothing_asked_;
  for (std::size_t i = 0; i < s.nodes.size(); ++i) {
    const StateId state = s.nodes[i] == kNoNode ? kNoState : nodes_.state_of(s.nodes[i]);
    const int free = state == kNoState ? 0 : nodes_.state(state).free.size();
    s.verdict[i] = static_cast<std::uint32_t>(solver::level_without_chips(free));
    ++nothing_asked_[s.verdict[i]].count;
  }
}

// The number of the node's verdict. Decides at most once per state, unless the node is special to
// this request.
std::uint32_t Evaluator::judge(const RequestContext& context, NodeId node, VerdictTable& table) {
  if (context.only != kNoNode && node != context.only) {
    if (context.binding != nullptr) return VerdictTable::kBindingElsewhere;
    if (context.may_change_to(node)) return VerdictTable::kGangAlike;
    return context.planned() ? VerdictTable::kGangElsewhere : VerdictTable::kGroupElsewhere;
  }
  const bool holds_here = context.part != nullptr && context.part->node == node;
  if (holds_here || !beside_on(context, node).empty()) {
    return table.add(answer(context, node).verdict);
  }
  const StateId state = nodes_.state_of(node);
  if (table.at(state) == VerdictTable::kOpen) {
    table.learn(state, table.add(answer_of(context, nodes_.state(state), {}).verdict));
  }
  return table.at(state);
}

void Evaluator::rank_nodes(const RequestContext& context, VerdictTable& table) {
  Evaluation& s = evaluation_;
  const std::span<Verdict> verdicts = table.verdicts();
  s.verdicts = verdicts;
  score_inputs_.clear();
  const double ceiling =
      preference_.ceiling(context.pod->chips, context.distributed, context.pod->needs_gbps);
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < verdicts.size(); ++i) {
    Verdict& v = verdicts[i];
    if (!v.fits() || v.count == 0) continue;
    s.fits += v.count;
    v.score = solver::score_input(v.offer, ceiling, v.first_order);
    v.score.far = v.far;
    v.score.other_leaves = v.other_leaves;
    v.score.breaks = v.breaks;
    score_inputs_.push_back(v.score);
    numbers.push_back(i);
  }
  if (numbers.empty()) return;
  s.order = solver::NodeOrder(score_inputs_, preference_.tolerance);
  const solver::NodeScores scores = solver::score_nodes(score_inputs_, s.order);
  for (std::size_t i = 0; i < numbers.size(); ++i) verdicts[numbers[i]].level = scores.levels[i];
  s.best = numbers[scores.best];
  s.best_node = s.verdicts[s.best].first;
}

std::string Evaluator::check_verdicts() const {
  for (const VerdictTable& table : tables_) {
    if (table.demand_version() != demand_.version()) continue;
    const RequestKind& kind = table.kind();
    const PodRequest pod = pod_of(kind);
    RequestContext context;
    context.pod = &pod;
    context.distributed = kind.distributed;
    context.members = kind.members;
    for (StateId state = 0; state < nodes_.states(); ++state) {
      if (!table.knows(state, nodes_)) continue;
      const Verdict& kept = table.verdicts()[table.at(state)];
      if (VerdictTable::same(kept, answer_of(context, nodes_.state(state), {}).verdict)) continue;
      return "the verdict kept for " + std::to_string(kind.chips) + " " + kind.resource +
             " is not the one of the state";
    }
  }
  return {};
}

}  // namespace chipweave::sched
