// Which nodes fit and which is best: one verdict for each distinct node state.
#include <algorithm>
#include <utility>

#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {
namespace {

Verdict rejected(Cause cause, bool never, std::string reason) {
  Verdict v;
  v.cause = cause;
  v.never = never;
  v.reason = std::move(reason);
  return v;
}

// Verdicts at fixed places of every survey.
constexpr std::uint32_t kUnknownNode = 0;
constexpr std::uint32_t kGroupElsewhere = 1;

}  // namespace

const Survey& Scheduler::filter_survey(const PodAsk& pod, std::span<const std::string_view> nodes) {
  return survey(Verb::filter, pod, nodes, true);
}

const Survey& Scheduler::prioritize_survey(const PodAsk& pod, std::span<const std::string_view> nodes) {
  return survey(Verb::prioritize, pod, nodes, true);
}

// hold: promise the best node's chips; filter does so only when exactly one node is left (prioritize is not called then).
const Survey& Scheduler::survey(Verb verb, const PodAsk& pod, std::span<const std::string_view> nodes,
                                bool hold) {
  const auto begin = clock_.now();
  expire_promises();
  const bool known = hold && pending(pod) != nullptr;
  Want want;
  if (known && pod.chips > 0) {
    const Holding* part = claim_part(pod);
    if (part == nullptr) withdraw(pod.uid);  // its own earlier promise is overwritten
    want = want_of(pod);
    if (part != nullptr) {
      want.part = part;
      want.only = part->node;
    }
  } else {
    want = want_of(pod);
  }
  look(want, nodes);
  if (want.part != nullptr && survey_.fits == 0) {
    // the group's node is gone, ill or not offered: plan anew, around members that already run
    dissolve_group(group_id(pod));
    want = want_of(pod);
    look(want, nodes);
  }
  if (known && survey_.best_node != kNoNode) {
    const bool decided = verb != Verb::filter || survey_.fits == 1;
    if (decided && want.part == nullptr) promise(pod, survey_.best_node, survey_.verdicts[survey_.best]);
    if (want.part != nullptr) {
      for (const std::string& uid : plans_.at(group_id(pod)).parts) {
        ledger_.extend(uid, clock_.now() + options_.reservation_ttl);
      }
    }
    remember(pod);
  } else if (known) {
    remember(pod);
  }
  for (const Verdict& v : survey_.verdicts) {
    if (!v.fits() && v.count > 0) observer_.rejected(v.cause, v.count);
  }
  observer_.decided(verb, clock_.now() - begin, survey_.fits);
  return survey_;
}

Scheduler::Want Scheduler::want_of(const PodAsk& pod) const {
  Want want;
  want.pod = &pod;
  want.distributed = pod.distributed || is_member(pod);
  const std::string job = job_identity(pod);
  if (!job.empty() && pod.chips > 0) {
    for (const std::string& uid : jobs_.members(job)) {
      if (uid == pod.uid) continue;
      want.distributed = true;
      const Holding* sibling = ledger_.find(uid);
      if (sibling == nullptr) continue;
      const auto extra = std::find_if(want.extras.begin(), want.extras.end(),
                                      [&](const Extra& e) { return e.node == sibling->node; });
      if (extra != want.extras.end()) {
        extra->beside |= sibling->chips;
      } else {
        want.extras.push_back({sibling->node, sibling->chips});
      }
    }
  }
  if (is_member(pod)) {
    want.members = pod.group->replicas;
    const auto plan = plans_.find(group_id(pod));
    if (plan != plans_.end() && plan->second.size == pod.chips) {
      want.members = std::max(1, want.members - static_cast<int>(plan->second.parts.size()));
      want.only = plan->second.node;
    }
  }
  return want;
}

void Scheduler::look(const Want& want, std::span<const std::string_view> names) {
  Survey& s = survey_;
  s.nodes.resize(names.size());
  s.verdict.resize(names.size());
  s.verdicts.clear();
  s.fits = 0;
  s.best_node = kNoNode;
  s.verdicts.push_back(rejected(Cause::unknown_node, false, "inventory not received"));
  s.verdicts.push_back(rejected(Cause::group, false, "the other pods of the group are on another node"));
  if (want.pod->chips == 0) {
    // nothing to decide: nodes without inventory are fine too
    s.verdicts[kUnknownNode] = Verdict{};
    s.verdicts[kUnknownNode].count = s.fits = names.size();
    for (std::size_t i = 0; i < names.size(); ++i) {
      s.nodes[i] = nodes_.find(names[i]);
      s.verdict[i] = kUnknownNode;
    }
    return;
  }
  ++epoch_;
  if (memo_.size() < nodes_.states()) memo_.resize(nodes_.states());
  if (nodes_.size() > 0) nodes_.order(0);  // brings the order up to date
  NodeId previous = kNoNode;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const NodeId node = nodes_.find_after(previous, names[i]);
    s.nodes[i] = node;
    std::uint32_t number = kUnknownNode;
    if (node != kNoNode) {
      previous = node;
      number = judge(want, node, {});
    }
    Verdict& v = s.verdicts[number];
    ++v.count;
    s.verdict[i] = number;
    if (node != kNoNode && (v.first == kNoNode || nodes_.order(node) < v.first_order)) {
      v.first = node;
      v.first_order = nodes_.order(node);
    }
  }
  rank_nodes();
}

// The number of the node's verdict; decides at most once a state.
std::uint32_t Scheduler::judge(const Want& want, NodeId node, ChipSet beside) {
  Survey& s = survey_;
  const auto add = [&](Verdict v) {
    s.verdicts.push_back(std::move(v));
    return static_cast<std::uint32_t>(s.verdicts.size() - 1);
  };
  if (want.only != kNoNode) {
    if (node != want.only) return kGroupElsewhere;
    if (want.part != nullptr) return add(part_verdict(want));
  }
  for (const Extra& extra : want.extras) {
    if (extra.node == node) beside |= extra.beside;
  }
  if (!beside.empty()) return add(verdict_of(want, nodes_.state(nodes_.state_of(node)), beside));
  Memo& memo = memo_[nodes_.state_of(node)];
  if (memo.epoch != epoch_) {
    memo.verdict = add(verdict_of(want, nodes_.state(nodes_.state_of(node)), {}));
    memo.epoch = epoch_;
  }
  return memo.verdict;
}

Verdict Scheduler::part_verdict(const Want& want) const {
  const Node& node = nodes_.node(want.part->node);
  if (node.stale) return rejected(Cause::stale, false, "inventory is stale: the node's agent is silent");
  if (!part_usable(*want.part, want.distributed)) {
    return rejected(Cause::unhealthy, false, "not enough healthy chips");
  }
  const GroupPlan& plan = plans_.at(want.part->group);
  Verdict v;
  v.chips = want.part->chips;
  v.gbps = plan.gbps;
  v.best_gbps = plan.best_gbps;
  v.request = plan.request;
  v.left_over = node.free().size();
  return v;
}

Verdict Scheduler::verdict_of(const Want& want, const NodeState& state, ChipSet beside) const {
  const auto& offered = nodes_.resource_set(state.resources);
  if (!std::binary_search(offered.begin(), offered.end(), want.pod->resource)) {
    return rejected(Cause::resource, true, "the node has no " + want.pod->resource);
  }
  if (state.stale) return rejected(Cause::stale, false, "inventory is stale: the node's agent is silent");
  return want.members > 1 ? group_verdict(want, state, beside) : chips_verdict(want, state, beside);
}

Verdict Scheduler::chips_verdict(const Want& want, const NodeState& state, ChipSet beside) const {
  solver::Machine& machine = *state.wiring;
  const ChipSet all = machine.topology().all();
  const ChipSet ill = want.distributed ? state.unhealthy | state.network_unhealthy : state.unhealthy;
  const int size = want.pod->chips;
  solver::Request request{state.free - ill, {}, beside, size, want.distributed};
  const solver::Choice choice = machine.choose(request);
  if (choice.fits) {
    Verdict v;
    v.chips = choice.chips;
    v.gbps = choice.gbps;
    v.best_gbps = choice.best_gbps;
    v.left_over = state.free.size() - size;
    v.request = request;
    return v;
  }
  if (choice.why == solver::Misfit::size || size > all.size()) {
    const std::string words = machine.reason(request, choice);
    return rejected(Cause::size, true, size > all.size() ? "the machine has fewer chips than asked" : words);
  }
  const solver::Request healthy{all - ill, {}, {}, size, want.distributed};
  if (!machine.choose(healthy).fits) return rejected(Cause::unhealthy, false, "not enough healthy chips");
  if (choice.why == solver::Misfit::rule) {
    return rejected(Cause::rule, false, "free chips form no set that the machine's rules allow");
  }
  return rejected(Cause::busy, false, "not enough free chips");
}

Verdict Scheduler::group_verdict(const Want& want, const NodeState& state, ChipSet beside) const {
  solver::Machine& machine = *state.wiring;
  const ChipSet all = machine.topology().all();
  const ChipSet ill = state.unhealthy | state.network_unhealthy;
  const std::vector<int> sizes(static_cast<std::size_t>(want.members), want.pod->chips);
  const int total = want.members * want.pod->chips;
  const auto no_room = [&](bool never) {
    return rejected(Cause::group, never,
                    "needs room for all " + std::to_string(want.pod->group->replicas) +
                        " pods of the group on one node");
  };
  if (total > all.size()) return no_room(true);
  solver::GroupChoice choice = machine.choose_group(state.free - ill, beside, sizes, true);
  if (!choice.fits) return no_room(!machine.choose_group(all, {}, sizes, true).fits);
  Verdict v;
  v.chips = choice.parts.front();
  v.parts = std::move(choice.parts);
  v.gbps = choice.gbps;
  v.best_gbps = choice.best_gbps;
  v.left_over = state.free.size() - total;
  v.request = {state.free - ill, {}, beside, total, true};
  return v;
}

void Scheduler::rank_nodes() {
  Survey& s = survey_;
  score_inputs_.clear();
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < s.verdicts.size(); ++i) {
    const Verdict& v = s.verdicts[i];
    if (!v.fits() || v.count == 0) continue;
    s.fits += v.count;
    score_inputs_.push_back({v.gbps, v.left_over, v.first_order});
    numbers.push_back(i);
  }
  if (numbers.empty()) return;
  const solver::NodeScores scores = solver::score_nodes(score_inputs_);
  for (std::size_t i = 0; i < numbers.size(); ++i) s.verdicts[numbers[i]].level = scores.levels[i];
  s.best = numbers[scores.best];
  s.best_node = s.verdicts[s.best].first;
}

std::string Scheduler::why_lost(const Verdict& loser, const Verdict& best) const {
  if (!loser.fits()) return loser.reason;
  solver::ScoreInput a{loser.gbps, loser.left_over, 0};
  solver::ScoreInput b{best.gbps, best.left_over, 0};
  a.left_over = b.left_over = 0;
  if (solver::better_node(b, a)) return "slower: " + std::to_string(static_cast<int>(loser.gbps + 0.5)) +
                                        " of " + std::to_string(static_cast<int>(best.gbps + 0.5)) + " GB/s";
  if (loser.left_over > best.left_over) return "as fast, but leaves more chips over";
  return "as good, but comes later by name";
}

// Keeps what the pod's owner may ask about later. Cost: a few states, not nodes.
void Scheduler::remember(const PodAsk& pod) {
  const Survey& s = survey_;
  Look look;
  look.node = s.best_node;
  if (s.best_node != kNoNode) {
    look.request = s.verdicts[s.best].request;
    look.gbps = s.verdicts[s.best].gbps;
    look.best_gbps = s.verdicts[s.best].best_gbps;
  }
  std::vector<const Verdict*> others;
  for (const Verdict& v : s.verdicts) {
    if (v.count > (s.best_node != kNoNode && &v == &s.verdicts[s.best] ? 1U : 0U) && v.first != kNoNode) {
      others.push_back(&v);
    }
  }
  const std::size_t kept = std::min(others.size(), kMaxConsidered);
  std::partial_sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(kept), others.end(),
                    [](const Verdict* a, const Verdict* b) {
                      if (a->fits() != b->fits()) return a->fits();
                      if (a->fits()) {
                        return solver::better_node({a->gbps, a->left_over, a->first_order},
                                                   {b->gbps, b->left_over, b->first_order});
                      }
                      return a->count != b->count ? a->count > b->count : a->first_order < b->first_order;
                    });
  for (std::size_t i = 0; i < kept; ++i) {
    const Verdict& v = *others[i];
    const bool twin = s.best_node != kNoNode && &v == &s.verdicts[s.best];
    look.others.push_back({twin ? std::string() : nodes_.node(v.first).name, v.count - (twin ? 1U : 0U), v.cause,
                           s.best_node == kNoNode ? v.reason : why_lost(v, s.verdicts[s.best]), v.gbps});
  }
  looks_[pod.uid] = std::move(look);
}

Result<FilterAnswer> Scheduler::filter(const PodAsk& pod, std::span<const std::string_view> nodes) {
  const Survey& s = filter_survey(pod, nodes);
  FilterAnswer answer;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Verdict& v = s.of(i);
    if (v.fits()) {
      answer.fit.push_back(s.nodes[i] == kNoNode ? nodes[i] : std::string_view(nodes_.name(s.nodes[i]).name));
    } else {
      answer.rejected.push_back({std::string(nodes[i]), v.reason});
    }
  }
  return answer;
}

Result<std::vector<Score>> Scheduler::prioritize(const PodAsk& pod, std::span<const std::string_view> nodes) {
  const Survey& s = prioritize_survey(pod, nodes);
  std::vector<Score> scores;
  scores.reserve(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    scores.push_back({s.nodes[i] == kNoNode ? nodes[i] : std::string_view(nodes_.name(s.nodes[i]).name), s.score(i)});
  }
  return scores;
}

std::vector<std::string_view> Scheduler::all_names() const {
  std::vector<std::string_view> names;
  names.reserve(nodes_.size());
  for (NodeId id = 0; id < nodes_.size(); ++id) names.push_back(nodes_.node(id).name);
  return names;
}

Result<PlacedChips> Scheduler::placed(const Survey& s) const {
  if (s.best_node == kNoNode) {
    const Verdict* most = nullptr;
    for (const Verdict& v : s.verdicts) {
      if (v.count > 0 && (most == nullptr || v.count > most->count)) most = &v;
    }
    return make_error(Errc::unavailable, most == nullptr ? "no node has reported its chips"
                                                         : "no node fits; most say: " + most->reason);
  }
  const Verdict& v = s.verdicts[s.best];
  const Node& node = nodes_.node(s.best_node);
  return PlacedChips{node.name, node.topology.indices(v.chips), v.gbps, v.best_gbps};
}

Result<PlacedChips> Scheduler::place(const PodAsk& pod, std::span<const std::string_view> nodes, bool reserve) {
  if (pod.chips <= 0) return make_error(Errc::invalid_argument, "the pod asks for no chips");
  if (reserve && pending(pod) == nullptr) {
    return make_error(Errc::not_found, "pod " + pod.key.text() +
                                           " is not waiting with this uid; only such a pod can hold chips");
  }
  const std::vector<std::string_view> all = nodes.empty() ? all_names() : std::vector<std::string_view>{};
  return placed(survey(Verb::place, pod, nodes.empty() ? std::span<const std::string_view>(all) : nodes, reserve));
}

Result<PlacedChips> Scheduler::what_if(const PodAsk& pod, std::span<const std::string_view> nodes) {
  return place(pod, nodes, false);
}

}  // namespace chipweave::sched
