#include "common/solver/selector.hpp"

#include <algorithm>
#include <functional>

namespace chipweave::solver {

Comparison compare(const Judged& a, const Judged& b) {
  if (a.rate != b.rate) return {Criterion::bandwidth, a.rate > b.rate};
  if (a.preference != b.preference) return {Criterion::preference, a.preference < b.preference};
  if (a.rest != b.rest) return {Criterion::preservation, a.rest > b.rest};
  if (a.host != b.host) return {Criterion::host, a.host < b.host};
  return {Criterion::indices, domain::lower_indices(a.chips, b.chips)};
}

Selector::Selector(const domain::NodeTopology& topology)
    : wiring_(topology),
      rules_(wiring_),
      symmetry_(wiring_),
      model_(wiring_),
      preservation_(wiring_, rules_, model_) {}

Judged Selector::judge(ChipSet chips, const CandidateQuery& query) {
  Judged out;
  out.chips = chips;
  out.rate = model_.of(chips | query.beside).rate;
  out.preference = rules_.preference(chips, query.usable);
  out.rest = preservation_.of(query.usable - chips);
  out.host = host_side(wiring_, chips | query.beside);
  return out;
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

Selector::Outcome Selector::best(const CandidateQuery& query) {
  Outcome out;
  const CandidateList list = list_candidates(wiring_, rules_, symmetry_, query);
  out.candidates = list.sets.size();
  struct Bounded {
    Rate bound;
    std::size_t at;
  };
  std::vector<Bounded> order;
  order.reserve(list.sets.size());
  const bool ranked = query.size + query.beside.size() > 1;
  for (std::size_t i = 0; i < list.sets.size(); ++i) {
    order.push_back({ranked ? model_.upper_bound(list.sets[i] | query.beside) : 0, i});
  }
  std::sort(order.begin(), order.end(), [](const Bounded& a, const Bounded& b) {
    return a.bound != b.bound ? a.bound > b.bound : a.at < b.at;
  });
  Rate top = -1;
  Rate bound = 0;
  std::vector<std::size_t> ties;
  for (const Bounded& b : order) {
    if (b.bound < top) break;
    const Bandwidth w = model_.of(list.sets[b.at] | query.beside);
    bound = std::max(bound, w.bound);
    if (w.rate > top) ties.clear();
    if (w.rate >= top) {
      top = w.rate;
      ties.push_back(b.at);
    }
  }
  for (const std::size_t i : ties) {
    Judged judged = judge(list.sets[i], query);
    if (!out.best || compare(judged, *out.best).first_better) out.best = judged;
  }
  if (!list.complete) bound = std::max(bound, size_bound(query.size, query.usable | query.beside));
  out.bound = std::max(bound, std::max<Rate>(top, 0));
  out.exact = list.complete && out.bound == std::max<Rate>(top, 0);
  return out;
}

std::vector<Judged> Selector::best_two(const CandidateQuery& query, std::size_t& candidates) {
  const CandidateList list = list_candidates(wiring_, rules_, symmetry_, query);
  candidates = list.sets.size();
  std::vector<Judged> out;
  for (const ChipSet set : list.sets) {
    Judged judged = judge(set, query);
    const auto place = std::find_if(out.begin(), out.end(), [&judged](const Judged& j) {
      return compare(judged, j).first_better;
    });
    out.insert(place, judged);
    if (out.size() > 2) out.pop_back();
  }
  return out;
}

std::vector<ChipSet> Selector::unions_best_first(CandidateQuery query) {
  query.ignore_rule = true;
  std::vector<std::pair<Rate, ChipSet>> rated;
  for (const ChipSet set : list_candidates(wiring_, rules_, symmetry_, query).sets) {
    rated.emplace_back(model_.of(set | query.beside).rate, set);
  }
  std::stable_sort(rated.begin(), rated.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Judged> top;
  for (const auto& [rate, set] : rated) {
    if (rate == rated.front().first) top.push_back(judge(set, query));
  }
  std::sort(top.begin(), top.end(),
            [](const Judged& a, const Judged& b) { return compare(a, b).first_better; });
  std::vector<ChipSet> out;
  out.reserve(rated.size());
  for (const Judged& j : top) out.push_back(j.chips);
  for (std::size_t i = top.size(); i < rated.size(); ++i) out.push_back(rated[i].second);
  return out;
}

Rate Selector::ceiling(int size, bool distributed) {
  if (size < 2) return 0;
  const std::uint64_t key = static_cast<std::uint64_t>(size) << 1U | (distributed ? 1U : 0U);
  if (const Rate* known = ceilings_.find(key)) return *known;
  CandidateQuery query;
  query.usable = ChipSet::first(wiring_.chip_count());
  query.size = size;
  query.distributed = distributed;
  Rate top = 0;
  const CandidateList list = list_candidates(wiring_, rules_, symmetry_, query);
  std::vector<std::pair<Rate, ChipSet>> order;
  for (const ChipSet set : list.sets) order.emplace_back(model_.upper_bound(set), set);
  std::sort(order.begin(), order.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [bound, set] : order) {
    if (bound <= top) break;
    top = std::max(top, model_.of(set).rate);
  }
  ceilings_.insert(key, top);
  return top;
}

}  // namespace chipweave::solver
