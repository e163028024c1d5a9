#include "common/solver/chips/selector.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "common/solver/bandwidth/pair_paths.hpp"
#include "common/solver/bandwidth/rings/ring_graph.hpp"
#include "common/solver/chips/sets/grown_sets.hpp"

namespace chipweave::solver {
namespace {

constexpr Steps kCriteriaSteps = 200;  // evaluating all criteria but preservation
// Sets and parts of sets that are listed on machines of more than 16 chips, and what each is
// charged.
constexpr Steps kMaxTried = 250'000;
constexpr Steps kTriedSteps = 16;

}  // namespace

Comparison compare(const RankedCandidate& a, const RankedCandidate& b) {
  if (a.goal != b.goal) return {Criterion::objective, a.goal > b.goal};
  if (a.rate != b.rate) return {Criterion::bandwidth, a.rate > b.rate};
  if (a.preference != b.preference) return {Criterion::preference, a.preference < b.preference};
  if (a.rest != b.rest) return {Criterion::preservation, a.rest > b.rest};
  if (a.host != b.host) return {Criterion::host, a.host < b.host};
  return {Criterion::indices, domain::lower_indices(a.chips, b.chips)};
}

Selector::Selector(const domain::NodeTopology& topology)
    : limits_(steps_for(topology.chip_count())),
      wiring_(topology),
      rules_(wiring_),
      symmetry_(wiring_),
      model_(wiring_),
      preservation_(wiring_, rules_, model_) {}

RankedCandidate Selector::evaluate(ChipSet chips, const CandidateQuery& query, Outcome& out) {
  const Preservation::Answer rest = preservation_.of(query.usable - chips);
  out.steps += rest.steps + kCriteriaSteps;
  out.exact = out.exact && rest.exact;
  const ChipSet joint = chips | query.already_held;
  const Bandwidth bandwidth = model_.of(joint);
  if (query.objective != domain::Objective::bandwidth) out.steps += bandwidth.steps;
  return {chips,          goal(joint, query.objective),
          bandwidth.rate, rules_.preference(chips, query.usable),
          rest.value,     host_side(wiring_, joint, query.loaded)};
}

Rate Selector::goal(ChipSet set, domain::Objective objective) const {
  switch (objective) {
    case domain::Objective::bandwidth:
      return 0;
    case domain::Objective::all_to_all:
      return all_to_all_rate(model_, wiring_, set);
    case domain::Objective::latency: {
      // The farthest pair first, then all pairs, then NUMA nodes.
      constexpr Rate kNear = Rate{1} << 40U;
      constexpr Rate kMaxSum = Rate{1} << 24U;  // of 2,016 pairs at most 8 hops apart
      constexpr Rate kMaxNodes = 128;
      const Distance far = distance(model_, wiring_, set);
      return kNear - ((far.farthest * kMaxSum + far.sum) * kMaxNodes + far.numa_nodes);
    }
  }
  return 0;
}

Bandwidth Selector::rating(ChipSet set, domain::Objective objective) {
  if (objective == domain::Objective::bandwidth) return model_.of(set);
  const Rate value = goal(set, objective);
  return {value, value, rating_bound_steps(set, objective)};
}

Rate Selector::rating_bound(ChipSet set, domain::Objective objective) const {
  return objective == domain::Objective::bandwidth ? model_.upper_bound(set) : goal(set, objective);
}

Steps Selector::rating_bound_steps(ChipSet set, domain::Objective objective) const {
  if (objective == domain::Objective::bandwidth) return model_.bound_steps(set);
  const auto n = static_cast<Steps>(set.size());
  return 4 * n * (n + wiring_.planes().size());
}

std::vector<RankedCandidate> Selector::rank_ties(const std::vector<ChipSet>& ties,
                                                 const CandidateQuery& query, std::size_t most,
                                                 Steps limit, Outcome& out) {
  std::vector<RankedCandidate> ranked_sets;
  const Steps end = out.steps + limit;
  for (const ChipSet set : ties) {
    if (out.steps > end) {
      out.exact = false;
      break;
    }
    ranked_sets.push_back(evaluate(set, query, out));
  }
  const std::size_t kept = std::min(most, ranked_sets.size());
  std::partial_sort(ranked_sets.begin(), ranked_sets.begin() + static_cast<std::ptrdiff_t>(kept),
                    ranked_sets.end(), [](const RankedCandidate& a, const RankedCandidate& b) {
                      return compare(a, b).first_better;
                    });
  ranked_sets.resize(kept);
  return ranked_sets;
}

Rate Selector::size_bound(int size, ChipSet pool) const {
  std::vector<Rate> potential;
  std::vector<Rate> fast;
  for (const int a : pool) {
    fast.clear();
    Rate widest = 0;
    for (const int b : pool) {
      if (a == b) continue;
      fast.push_back(wiring_.direct(a, b));
      widest = std::max(widest, model_.hop(a, b));
    }
    const std::size_t most = std::min(fast.size(), static_cast<std::size_t>(std::max(size - 1, 0)));
    std::partial_sort(fast.begin(), fast.begin() + static_cast<std::ptrdiff_t>(most), fast.end(),
                      std::greater<>());
    Rate sum = 0;
    for (std::size_t k = 0; k < most; ++k) sum += fast[k];
    for (const Plane& p : wiring_.planes()) sum += p.egress[static_cast<std::size_t>(a)];
    potential.push_back(std::max(sum, widest));
  }
  if (size < 2 || potential.size() < static_cast<std::size_t>(size)) return 0;
  std::sort(potential.begin(), potential.end(), std::greater<>());
  return potential[static_cast<std::size_t>(size) -
                   1];  // every set of that size has a chip no better than this
}

CandidateList Selector::candidates(const CandidateQuery& query) const {
  // Above 16 chips a few thousand sets keep a decision below about 0.1 s; up to 16 there are never
  // more than 2^14 of one size.
  constexpr std::size_t kMaxListed = 4096;
  const CandidateLimits limits = wiring_.chip_count() > kMaxRingChips
                                     ? CandidateLimits{kMaxListed, kMaxTried}
                                     : CandidateLimits{std::numeric_limits<std::size_t>::max(),
                                                       std::numeric_limits<Steps>::max()};
  CandidateList list = list_candidates(rules_, symmetry_, query, limits);
  if (list.complete) return list;
  for (const ChipSet set : grow_sets(wiring_, model_, query)) {
    if (query.ignore_rule || rules_.legal(set, query.usable, query.distributed))
      list.sets.push_back(set);
  }
  // Different heuristics may grow the same set.
  std::sort(list.sets.begin(), list.sets.end(), domain::lower_indices);
  list.sets.erase(std::unique(list.sets.begin(), list.sets.end()), list.sets.end());
  return list;
}

Selector::Search Selector::search(const CandidateList& list, const CandidateQuery& query,
                                  std::size_t wanted, Steps limit) {
  Search out;
  const bool ranked = query.size + query.already_held.size() > 1;
  out.left.reserve(list.sets.size());
  out.steps = list.steps * kTriedSteps;
  for (std::size_t i = 0; i < list.sets.size(); ++i) {
    const ChipSet joint = list.sets[i] | query.already_held;
    out.left.push_back({ranked ? rating_bound(joint, query.objective) : 0, i});
    out.steps += ranked ? rating_bound_steps(joint, query.objective) : 1;
  }
  const auto better = [](const Rated& a, const Rated& b) {
    return a.rate != b.rate ? a.rate > b.rate : a.at < b.at;
  };
  std::sort(out.left.begin(), out.left.end(), better);
  const Steps end = out.steps + limit;
  std::vector<Rate> leaders;  // the wanted best rates so far, falling
  std::size_t next = 0;
  for (; next < out.left.size(); ++next) {
    const Rated& b = out.left[next];
    if (leaders.size() == wanted && b.rate < leaders.back()) break;
    if (out.steps > end) {
      out.complete = false;
      out.bound = std::max(out.bound, b.rate);
      break;
    }
    const Bandwidth w = rating(list.sets[b.at] | query.already_held, query.objective);
    out.steps += w.steps + 1;
    out.bound = std::max(out.bound, w.bound);
    out.rated.push_back({w.rate, b.at});
    leaders.insert(std::upper_bound(leaders.begin(), leaders.end(), w.rate, std::greater<>()),
                   w.rate);
    if (leaders.size() > wanted) leaders.pop_back();
  }
  out.left.erase(out.left.begin(), out.left.begin() + static_cast<std::ptrdiff_t>(next));
  std::sort(out.rated.begin(), out.rated.end(), better);
  return out;
}

Selector::Outcome Selector::best(const CandidateQuery& query, std::size_t wanted) {
  Outcome out;
  const CandidateList list = candidates(query);
  out.candidates = list.sets.size();
  const Search found = search(list, query, wanted, limits_.search);
  out.steps = found.steps;
  for (std::size_t i = 0; i < found.rated.size() && out.best.size() < wanted;) {
    const Rate rate = found.rated[i].rate;
    std::vector<ChipSet> ties;
    for (; i < found.rated.size() && found.rated[i].rate == rate; ++i)
      ties.push_back(list.sets[found.rated[i].at]);
    if (ties.size() == 1 && wanted == 1) {
      const Bandwidth bandwidth = model_.of(ties.front() | query.already_held);
      out.best.push_back({ties.front(), 0, bandwidth.rate, 0, {}, {}});
      break;
    }
    for (const RankedCandidate& j :
         rank_ties(ties, query, wanted - out.best.size(), limits_.criteria, out))
      out.best.push_back(j);
  }
  const Rate top = found.rated.empty() ? 0 : found.rated.front().rate;
  out.bound = std::max(found.bound, top);
  if (!list.complete) {
    out.bound = query.objective == domain::Objective::bandwidth
                    ? std::max(out.bound, size_bound(query.size, query.usable | query.already_held))
                    : std::numeric_limits<Rate>::max();
  }
  out.exact = out.exact && list.complete && found.complete && out.bound == top;
  return out;
}

Steps Selector::unions_best_first(CandidateQuery query, const std::function<bool(ChipSet)>& take) {
  query.ignore_rule = true;
  return sets_best_first(candidates(query), query, take);
}

Steps Selector::sets_best_first(const CandidateList& list, const CandidateQuery& query,
                                const std::function<bool(ChipSet)>& take) {
  if (list.sets.empty()) return list.steps * kTriedSteps;
  const Search fastest = search(list, query, 1, limits_.group);
  const Rate top = fastest.rated.front().rate;
  std::vector<ChipSet> ties;
  for (const Rated& r : fastest.rated) {
    if (r.rate == top) ties.push_back(list.sets[r.at]);
  }
  Outcome outcome;
  outcome.steps = fastest.steps;
  const std::vector<RankedCandidate> ranked_sets =
      rank_ties(ties, query, ties.size(), limits_.group, outcome);
  for (const RankedCandidate& j : ranked_sets) {
    if (take(j.chips)) return outcome.steps;
  }
  for (std::size_t k = ranked_sets.size(); k < ties.size(); ++k) {
    if (take(ties[k])) return outcome.steps;
  }
  // None of the fastest splits legally: try the slower ones.
  const Search all = search(list, query, list.sets.size(), limits_.group);
  for (const std::vector<Rated>* some : {&all.rated, &all.left}) {
    for (const Rated& r : *some) {
      if ((some != &all.rated || r.rate < top) && take(list.sets[r.at]))
        return outcome.steps + all.steps;
    }
  }
  return outcome.steps + all.steps;
}

ChipSet Selector::any_set(const CandidateQuery& query) const {
  const CandidateList list = list_candidates(rules_, symmetry_, query, {1, kMaxTried});
  if (!list.sets.empty()) return list.sets.front();
  if (list.complete) return {};
  for (const ChipSet set : grow_sets(wiring_, model_, query)) {
    if (query.ignore_rule || rules_.legal(set, query.usable, query.distributed)) return set;
  }
  return {};
}

Rate Selector::ceiling(int size, bool distributed) {
  if (size < 2) return 0;
  const std::uint64_t key = static_cast<std::uint64_t>(size) << 1U | (distributed ? 1U : 0U);
  if (const Rate* known = ceilings_.find(key)) return *known;
  CandidateQuery query;
  query.usable = ChipSet::first(wiring_.chip_count());
  query.size = size;
  query.distributed = distributed;
  const Search found = search(candidates(query), query, 1, limits_.ceiling);
  ceiling_steps_ += found.steps;
  const Rate top = found.rated.empty() ? 0 : found.rated.front().rate;
  ceilings_.insert(key, top);
  return top;
}

}  // namespace chipweave::solver
