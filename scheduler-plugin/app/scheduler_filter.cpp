// Which nodes fit and which is best: one verdict for each distinct node state.
//
// Cost of an evaluation of n nodes whose states were seen before: n name look-ups and n counts,
// about 10 ns per node, no allocation.
#include <algorithm>
#include <cmath>
#include <utility>

#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {
namespace {

// Kinds of requests whose verdicts are cached; the least recently used one is dropped first.
constexpr std::size_t kMaxTables = 32;

}  // namespace

const Evaluation& Scheduler::evaluate_filter(const PodRequest& pod,
                                             std::span<const std::string_view> nodes) {
  return evaluate(Verb::filter, pod, nodes, Purpose::to_bind);
}

const Evaluation& Scheduler::evaluate_prioritize(const PodRequest& pod,
                                                 std::span<const std::string_view> nodes) {
  return evaluate(Verb::prioritize, pod, nodes, Purpose::to_bind);
}

// The pod's fixed holding: of its binding in flight, or its part of a group. Ends its own earlier
// reservation.
const Holding* Scheduler::part_of(Verb verb, const PodRequest& pod, Purpose purpose) {
  if (being_bound(pod.uid) != nullptr) return ledger_.find(pod.uid);
  if (purpose == Purpose::in_session) {
    withdraw(pod.uid);
    return is_member(pod) ? groups_.part_for(pod) : nullptr;
  }
  if (is_speculative(verb, pod)) {
    for (const std::string& uid : speculative_.asked(pod.gang, pod.uid, clock_.now()))
      withdraw(uid);
  }
  const Holding* part = is_member(pod) ? groups_.claim(pod) : nullptr;
  if (part == nullptr) withdraw(pod.uid);
  return part;
}

// If a binding is likely to follow, reserves the best node's chips; in filter only if exactly one
// node is left, because prioritize is not called then. The request of a known pod is taken from the
// cluster, not from the caller.
const Evaluation& Scheduler::evaluate(Verb verb, const PodRequest& asked,
                                      std::span<const std::string_view> nodes, Purpose purpose) {
  const auto begin = clock_.now();
  expire_reservations();
  const ClusterPod* known = purpose == Purpose::what_if ? nullptr : pending(asked);
  const PodRequest& pod = known != nullptr ? known->request : asked;
  const InFlightBinding* binding = known != nullptr ? being_bound(pod.uid) : nullptr;
  const Holding* part = known != nullptr ? part_of(verb, pod, purpose) : nullptr;
  RequestContext context = context_of(pod, part);
  if (binding != nullptr) {
    context.binding = &binding->decision;
    if (!binding->admitted_only())
      context.only = part->node;  // else its scheduler may choose again
  }
  evaluate_nodes(context, nodes);
  const bool to_bind = known != nullptr && binding == nullptr && purpose == Purpose::to_bind;
  if (to_bind && context.only != kNoNode && evaluation_.fits == 0) {
    // the group's node is gone, unhealthy, full or not offered: plan again around running members
    groups_.dissolve(group_id(pod));
    context = context_of(pod, nullptr);
    evaluate_nodes(context, nodes);
  }
  if (known != nullptr && evaluation_.fits == 0 && end_other_speculation(pod)) {
    // what pods of its job held may have ended with those reservations
    context.of_job = context_of(pod, context.part).of_job;
    evaluate_nodes(context, nodes);
  }
  const bool found = evaluation_.best_node != kNoNode;
  if (known != nullptr || verb == Verb::place) {
    chosen_ = found ? answer(context, evaluation_.best_node) : Answer{};
  }
  if (known != nullptr && verb != Verb::predicate) remember(verb, pod, purpose);
  if (to_bind && found) {
    if (context.part != nullptr) {
      groups_.extend(group_id(pod), clock_.now() + options_.reservation_ttl);
    } else if (verb != Verb::filter || evaluation_.fits == 1) {
      hold_reservation(verb, pod, evaluation_.best_node, chosen_);
    }
  }
  for (const Verdict& v : evaluation_.verdicts) {
    if (!v.fits() && v.count > 0) observer_.rejected(v.cause, v.count);
  }
  if (to_bind && verb == Verb::filter && evaluation_.fits == 0 && !nodes.empty())
    observer_.unplaceable(pod.key, pod.uid, rejection_summary());
  observer_.decided(verb, clock_.now() - begin, evaluation_.fits);
  return evaluation_;
}

Scheduler::RequestContext Scheduler::context_of(const PodRequest& pod, const Holding* part) const {
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
VerdictTable& Scheduler::table_of(const RequestContext& context) {
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

void Scheduler::evaluate_nodes(const RequestContext& context,
                               std::span<const std::string_view> names) {
  Evaluation& s = evaluation_;
  nodes_.find_all(names, s.nodes);
  s.verdict.resize(names.size());
  s.fits = 0;
  s.best_node = kNoNode;
  if (context.pod->chips == 0) return accept_all();
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
}

// Nothing to decide: nodes without inventory are fine too.
void Scheduler::accept_all() {
  Evaluation& s = evaluation_;
  nothing_asked_.count = s.fits = s.nodes.size();
  s.verdicts = {&nothing_asked_, 1};
  s.verdict.assign(s.nodes.size(), 0);
}

// The number of the node's verdict. Decides at most once per state, unless the node is special to
// this request.
std::uint32_t Scheduler::judge(const RequestContext& context, NodeId node, VerdictTable& table) {
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

void Scheduler::rank_nodes(VerdictTable& table) {
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

std::string Scheduler::why_lost(const Verdict& loser, const Verdict& best) const {
  if (!loser.fits()) return loser.reason;
  const bool slower = solver::better_node({best.gbps, 0, 0}, {loser.gbps, 0, 0});
  if (slower)
    return "slower: " + std::to_string(std::lround(loser.gbps)) + " of " +
           std::to_string(std::lround(best.gbps)) + " GB/s";
  if (loser.left_over > best.left_over) return "equally fast, but leaves more chips unused";
  return "equally good, but later in name order";
}

// "2 nodes: not enough free chips; 1 node: inventory not received", most nodes first.
std::string Scheduler::rejection_summary() const {
  std::vector<const Verdict*> claimed;
  for (const Verdict& v : evaluation_.verdicts) {
    if (v.count > 0) claimed.push_back(&v);
  }
  std::stable_sort(claimed.begin(), claimed.end(),
                   [](const Verdict* a, const Verdict* b) { return a->count > b->count; });
  std::string text;
  for (const Verdict* v : claimed) {
    if (!text.empty()) text += "; ";
    text += std::to_string(v->count) + (v->count == 1 ? " node: " : " nodes: ") + v->reason;
  }
  return text;
}

// Keeps what explain needs later. Cost: a few verdicts, and a bit per node.
void Scheduler::remember(Verb verb, const PodRequest& pod, Purpose purpose) {
  const Evaluation& s = evaluation_;
  PodRecord* record = records_.find(pod.uid);
  if (record == nullptr) return;  // it requests no chips
  LastEvaluation last;
  last.node = s.best_node;
  if (purpose == Purpose::in_session) {
    last.in_sessions = true;
  } else if (verb == Verb::prioritize) {
    // prioritize sees only what filter left
    if (record->evaluation != nullptr) last.offered = record->evaluation->offered;
  } else {
    NodeSet nodes(nodes_.size());
    for (const NodeId id : s.nodes) {
      if (id != kNoNode) nodes[id] = true;
    }
    if (offered_ == nullptr || *offered_ != nodes)
      offered_ = std::make_shared<const NodeSet>(std::move(nodes));
    last.offered = offered_;
  }
  if (s.best_node != kNoNode) {
    last.request = chosen_.request;
    last.gbps = s.verdicts[s.best].gbps;
    last.best_gbps = s.verdicts[s.best].best_gbps;
  }
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
    last.others.push_back(
        {twin ? std::string() : nodes_.node(v.first).name, v.count - (twin ? 1U : 0U), v.cause,
         s.best_node == kNoNode ? v.reason : why_lost(v, s.verdicts[s.best]), v.gbps});
  }
  record->evaluation = std::make_unique<LastEvaluation>(std::move(last));
}

Result<FilterAnswer> Scheduler::filter(const PodRequest& pod,
                                       std::span<const std::string_view> nodes) {
  const Evaluation& s = evaluate_filter(pod, nodes);
  FilterAnswer answer;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Verdict& v = s.of(i);
    if (v.fits()) {
      answer.fit.push_back(s.nodes[i] == kNoNode ? nodes[i]
                                                 : std::string_view(nodes_.node(s.nodes[i]).name));
    } else {
      answer.rejected.push_back({std::string(nodes[i]), v.reason});
    }
  }
  return answer;
}

Result<std::vector<Score>> Scheduler::prioritize(const PodRequest& pod,
                                                 std::span<const std::string_view> nodes) {
  const Evaluation& s = evaluate_prioritize(pod, nodes);
  std::vector<Score> scores;
  scores.reserve(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    scores.push_back(
        {s.nodes[i] == kNoNode ? nodes[i] : std::string_view(nodes_.node(s.nodes[i]).name),
         s.score(i)});
  }
  return scores;
}

std::vector<std::string_view> Scheduler::all_names() {
  std::vector<std::string_view> names;
  names.reserve(nodes_.size());
  for (const NodeId id : nodes_.by_name()) {
    if (nodes_.node(id).has_inventory()) names.push_back(nodes_.node(id).name);
  }
  return names;
}

Result<PlacedChips> Scheduler::placed(const Evaluation& s) const {
  if (s.best_node == kNoNode) {
    const Verdict* most = nullptr;
    bool offered = false;  // by a node that is known
    for (const Verdict& v : s.verdicts) {
      if (v.count == 0) continue;
      offered = offered || (v.cause != Cause::unknown_node && v.cause != Cause::resource);
      if (most == nullptr || v.count > most->count) most = &v;
    }
    if (most == nullptr) return make_error(Errc::not_found, "no node has reported its chips");
    return make_error(offered ? Errc::conflict : Errc::not_found,
                      "no node fits; most common reason: " + most->reason);
  }
  const Verdict& v = s.verdicts[s.best];
  const Node& node = nodes_.node(s.best_node);
  return PlacedChips{node.name, node.topology.indices(chosen_.chips), v.gbps, v.best_gbps};
}

}  // namespace chipweave::sched
