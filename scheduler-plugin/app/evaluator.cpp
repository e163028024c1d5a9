// Many nodes: one verdict for each distinct state.
#include "scheduler-plugin/app/evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "common/base/text.hpp"

namespace chipweave::sched {
namespace {

// Kinds of requests whose verdicts are cached; the least recently used one is dropped first.
constexpr std::size_t kMaxTables = 32;

}  // namespace

RequestContext Evaluator::context_of(const PodRequest& pod, const Holding* part) const {
  RequestContext context;
  context.pod = &pod;
  context.part = part;
  const std::string job = pod.chips > 0 ? job_identity(pod) : std::string();
  if (!job.empty()) {
    const ClusterPod* self = cluster_.find(pod.key);
    const bool counted = self != nullptr && self->request.uid == pod.uid && self->request.chips > 0;
    context.distributed = jobs_.members(job) > (counted ? 1U : 0U);
    context.of_job = &ledger_.of_job(job);
    context.own = ledger_.find(pod.uid);
  }
  context.distributed = context.distributed || pod.distributed || is_member(pod);
  if (!is_member(pod)) return context;
  context.members = pod.group->replicas;
  if (const Group* group = groups_.find(group_id(pod))) {
    const auto holding = static_cast<int>(group->members.size() - group->members.count(pod.uid));
    context.members = std::max(1, context.members - holding);
    context.only = group->node;
  }
  return context;
}

// The verdict table for this kind of request.
VerdictTable& Evaluator::table_of(const RequestContext& context) {
  const RequestKind kind{context.pod->resource, context.pod->chips, context.distributed,
                         context.members,
                         is_member(*context.pod) ? context.pod->group->replicas : 1};
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
  table.begin(nodes_);
  nodes_.sort_names();
  const bool alike = context.only == kNoNode && context.part == nullptr &&
                     (context.of_job == nullptr || context.of_job->empty());
  std::span<Verdict> verdicts = table.verdicts();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const NodeId node = s.nodes[i];
    if (node == kNoNode) {
      s.verdict[i] = VerdictTable::kUnknownNode;
      ++verdicts[VerdictTable::kUnknownNode].count;
      continue;
    }
    const NodeTable::Standing& standing = nodes_.standing(node);
    if (standing.state == kNoState) {
      s.verdict[i] = VerdictTable::kUnknownNode;
      ++verdicts[VerdictTable::kUnknownNode].count;
      continue;
    }
    std::uint32_t number = alike ? table.at(standing.state) : VerdictTable::kOpen;
    if (number == VerdictTable::kOpen) {
      number = judge(context, node, table);
      verdicts = table.verdicts();
    }
    s.verdict[i] = number;
    Verdict& v = verdicts[number];
    ++v.count;
    if (standing.order < v.first_order) {
      v.first = node;
      v.first_order = standing.order;
    }
  }
  rank_nodes(table);
  return s;
}

// Nothing to decide: nodes without inventory are fine too.
void Evaluator::accept_all() {
  Evaluation& s = evaluation_;
  nothing_asked_.count = s.fits = s.nodes.size();
  s.verdicts = {&nothing_asked_, 1};
  s.verdict.assign(s.nodes.size(), 0);
}

// The number of the node's verdict. Decides at most once per state, unless the node is special to
// this request.
std::uint32_t Evaluator::judge(const RequestContext& context, NodeId node, VerdictTable& table) {
  if (context.only != kNoNode && node != context.only) {
    return context.binding != nullptr ? VerdictTable::kBindingElsewhere
                                      : VerdictTable::kGroupElsewhere;
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

void Evaluator::rank_nodes(VerdictTable& table) {
  Evaluation& s = evaluation_;
  const std::span<Verdict> verdicts = table.verdicts();
  s.verdicts = verdicts;
  score_inputs_.clear();
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < verdicts.size(); ++i) {
    const Verdict& v = verdicts[i];
    if (!v.fits() || v.count == 0) continue;
    s.fits += v.count;
    score_inputs_.push_back({v.gbps, v.left_over, v.first_order});
    numbers.push_back(i);
  }
  if (numbers.empty()) return;
  const solver::NodeScores scores = solver::score_nodes(score_inputs_);
  for (std::size_t i = 0; i < numbers.size(); ++i) verdicts[numbers[i]].level = scores.levels[i];
  s.best = numbers[scores.best];
  s.best_node = s.verdicts[s.best].first;
}

std::string Evaluator::why_lost(const Verdict& loser, const Verdict& best) const {
  if (!loser.fits()) return loser.reason;
  const bool slower = solver::better_node({best.gbps, 0, 0}, {loser.gbps, 0, 0});
  if (slower)
    return "slower: " + std::to_string(std::lround(loser.gbps)) + " of " +
           std::to_string(std::lround(best.gbps)) + " GB/s";
  if (loser.left_over > best.left_over) return "equally fast, but leaves more chips unused";
  return "equally good, but later in name order";
}

std::string Evaluator::rejection_summary() const {
  std::set<std::string_view> reasons;
  for (const Verdict& v : evaluation_.verdicts) {
    if (v.count > 0) reasons.insert(v.reason);
  }
  return joined(reasons, "; ");
}

std::vector<std::string_view> Evaluator::all_names() {
  std::vector<std::string_view> names;
  names.reserve(nodes_.size());
  for (const NodeId id : nodes_.by_name()) {
    if (nodes_.node(id).has_inventory()) names.push_back(nodes_.node(id).name);
  }
  return names;
}

std::vector<Considered> Evaluator::considered() const {
  const Evaluation& s = evaluation_;
  std::vector<Considered> considered;
  std::vector<const Verdict*> others;
  for (const Verdict& v : s.verdicts) {
    if (v.count > (s.best_node != kNoNode && &v == &s.verdicts[s.best] ? 1U : 0U) &&
        v.first != kNoNode) {
      others.push_back(&v);
    }
  }
  const std::size_t kept = std::min(others.size(), kMaxConsidered);
  std::partial_sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(kept),
                    others.end(), [](const Verdict* a, const Verdict* b) {
                      if (a->fits() != b->fits()) return a->fits();
                      if (a->fits()) {
                        return solver::better_node({a->gbps, a->left_over, a->first_order},
                                                   {b->gbps, b->left_over, b->first_order});
                      }
                      return a->count != b->count ? a->count > b->count
                                                  : a->first_order < b->first_order;
                    });
  for (std::size_t i = 0; i < kept; ++i) {
    const Verdict& v = *others[i];
    const bool twin = s.best_node != kNoNode && &v == &s.verdicts[s.best];
    considered.push_back(
        {twin ? std::string() : nodes_.node(v.first).name, v.count - (twin ? 1U : 0U), v.cause,
         s.best_node == kNoNode ? v.reason : why_lost(v, s.verdicts[s.best]), v.gbps});
  }
  return considered;
}

std::string Evaluator::check_verdicts() const {
  for (const VerdictTable& table : tables_) {
    const RequestKind& kind = table.kind();
    PodRequest pod;
    pod.resource = kind.resource;
    pod.chips = kind.chips;
    if (kind.replicas > 1) pod.group = GroupRef{"", kind.replicas};
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
