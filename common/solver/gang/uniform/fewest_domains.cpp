#include "common/solver/gang/uniform/fewest_domains.hpp"

#include <algorithm>
#include <numeric>

#include "common/solver/gang/uniform/child_fold.hpp"

namespace chipweave::solver {
namespace {

// The largest count of each level: at most the domains that exist, and at most one per pod. The
// number of nodes is needed only where another number does not determine it.
std::vector<std::uint64_t> most_used(const Fabric& fabric, const Capacity& capacity, int pods) {
  const auto most = static_cast<std::uint64_t>(std::max(pods, 0));
  std::vector<std::uint64_t> used;
  used.reserve(fabric.levels() + 1);
  for (int level = 0; level < static_cast<int>(fabric.levels()); ++level)
    used.push_back(std::min<std::uint64_t>(most, fabric.domains_at(level)));
  used.push_back(std::min<std::uint64_t>(most, fabric.size()));
  if (capacity.one_node_each()) {
    used.back() = 0;
    if (capacity.nodes_follow() && fabric.levels() > 0) used[fabric.levels() - 1] = 0;
  } else if (capacity.nodes_follow()) {
    used.back() = 0;
  }
  return used;
}

// Of interchangeable candidates only the first one is evaluated.
class SeenCandidates {
 public:
  explicit SeenCandidates(const Capacity& capacity) : capacity_(capacity) {}
  bool before(const FewestDomains::Candidate& one) {
    const auto same = [&](const FewestDomains::Candidate& other) {
      return capacity_.symmetry_hash(one.domain) == capacity_.symmetry_hash(other.domain) &&
             one.counts == other.counts && one.tight == other.tight;
    };
    if (std::any_of(seen_.begin(), seen_.end(), same)) return true;
    seen_.push_back(one);
    return false;
  }

 private:
  const Capacity& capacity_;
  std::vector<FewestDomains::Candidate> seen_;
};

}  // namespace

FewestDomains::FewestDomains(const Fabric& fabric, const Capacity& capacity, int pods,
                             FoldLimits limits)
    : fabric_(fabric),
      capacity_(capacity),
      layout_(most_used(fabric, capacity, pods), capacity.free(kRootDomain)),
      pool_costs_(fabric, capacity, layout_),
      limits_(limits) {}

Counts FewestDomains::own_counts(DomainId domain) const {
  const int level = fabric_.level(domain);
  return level < 0 || capacity_.already_used(domain)
             ? 0
             : layout_.count(static_cast<std::size_t>(level));
}

Tight FewestDomains::own_tight(DomainId domain) const {
  const int level = fabric_.level(domain);
  return level < 0 || capacity_.already_used(domain)
             ? 0
             : layout_.tight(static_cast<std::size_t>(level), capacity_.free(domain));
}

FewestDomains::Candidate FewestDomains::candidate(DomainId domain) const {
  Candidate out{domain, 0, 0};
  if (domain == kRootDomain) return out;
  for (DomainId at = fabric_.parent(domain); at != kRootDomain; at = fabric_.parent(at)) {
    out.counts += own_counts(at);
    out.tight += own_tight(at);
  }
  return out;
}

// As many children as the largest ones would do, no fewer domains at the levels below, and as many
// nodes as if all were in one domain.
Counts FewestDomains::bound(DomainId id, int pods) const {
  Counts least = own_counts(id);
  if (capacity_.already_used(id) || pods == 0) return least;
  const std::size_t levels = fabric_.levels();
  const auto nodes_beside = static_cast<std::uint64_t>(capacity_.fewest_nodes(id, pods));
  if (capacity_.is_pool(id)) {
    const bool rack = fabric_.is_rack(id);
    return least + layout_.count(levels, nodes_beside) +
           (rack ? layout_.count(levels - 1, nodes_beside) : 0);
  }
  std::vector<int> capacities;
  for (const DomainId child : fabric_.children(id)) capacities.push_back(capacity_.most(child));
  std::sort(capacities.begin(), capacities.end(), std::greater<>());
  std::uint64_t children = 0;
  for (std::int64_t held = 0; children < capacities.size() && held < pods;)
    held += capacities[children++];
  const std::uint64_t nodes = std::max(children, nodes_beside);
  for (std::size_t level = static_cast<std::size_t>(fabric_.level(id)) + 1; level < levels; ++level)
    least +=
        layout_.count(level, level + 1 == levels && capacity_.one_node_each() ? nodes : children);
  return least + layout_.count(levels, nodes);
}

std::vector<FewestDomains::Candidate> FewestDomains::single_children(DomainId domain,
                                                                     Units units) const {
  std::vector<Candidate> out;
  if (capacity_.is_pool(domain) || capacity_.already_used(domain) || units == 0) return out;
  const Units inside = capacity_.inner(domain, units);
  for (const DomainId child : fabric_.children(domain)) {
    if (capacity_.units(child) >= inside) out.push_back({child, 0, 0});
  }
  return out;
}

DomainId FewestDomains::choose(const std::vector<Candidate>& candidates, int pods) {
  if (candidates.size() == 1) return candidates.front().domain;
  struct Entry {
    Counts least;
    std::size_t position;
  };
  std::vector<Entry> order;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    order.push_back({candidates[i].counts + bound(candidates[i].domain, pods), i});
  std::stable_sort(order.begin(), order.end(),
                   [](const Entry& a, const Entry& b) { return a.least < b.least; });
  Counts fewest = kImpossible;
  std::vector<std::size_t> best;
  SeenCandidates seen(capacity_);
  for (const Entry& entry : order) {
    if (entry.least > fewest) break;
    const Candidate& one = candidates[entry.position];
    if (seen.before(one)) continue;
    const Counts found = one.counts + counts_of(one.domain, units(one.domain, pods));
    if (found > fewest) continue;
    if (found < fewest) best.clear();
    fewest = found;
    best.push_back(entry.position);
  }
  if (best.size() == 1) return candidates[best.front()].domain;
  // The tightest; the domain's own free chips come first.
  const auto own = [&](std::size_t i) {
    return candidates[i].tight + own_tight(candidates[i].domain);
  };
  std::sort(best.begin(), best.end(), [&](std::size_t a, std::size_t b) {
    return own(a) != own(b) ? own(a) < own(b) : a < b;
  });
  Tight tightest = kLoosest;
  std::size_t chosen = best.front();
  for (const std::size_t i : best) {
    if (own(i) > tightest) break;
    const Candidate& one = candidates[i];
    const Tight found = one.tight + tight_of(one.domain, units(one.domain, pods));
    if (found < tightest || (found == tightest && i < chosen)) {
      tightest = found;
      chosen = i;
    }
  }
  return candidates[chosen].domain;
}

Counts FewestDomains::counts_of(DomainId domain, Units units) {
  const std::vector<Candidate> singles = single_children(domain, units);
  if (singles.empty()) return count_steps(domain, units, units).back().counts;
  const int pods = capacity_.pods(domain, units);
  std::vector<std::pair<Counts, DomainId>> order;
  order.reserve(singles.size());
  for (const Candidate& one : singles) order.emplace_back(bound(one.domain, pods), one.domain);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Counts fewest = kImpossible;
  SeenCandidates seen(capacity_);
  for (const auto& [least, child] : order) {
    if (least >= fewest) break;
    if (seen.before({child, 0, 0})) continue;
    fewest = std::min(fewest, counts_of(child, this->units(child, pods)));
  }
  return fewest + own_counts(domain);
}

Tight FewestDomains::tight_of(DomainId domain, Units units) {
  const std::vector<Candidate> singles = single_children(domain, units);
  if (singles.empty()) return tight_steps(domain, units, units).back().tight;
  const int pods = capacity_.pods(domain, units);
  const DomainId child = choose(singles, pods);
  return own_tight(domain) + tight_of(child, this->units(child, pods));
}

CountSteps FewestDomains::count_steps(DomainId domain, Units least, Units most) {
  CountSteps steps;
  const Counts own = own_counts(domain);
  if (capacity_.is_pool(domain)) {
    const Units none = capacity_.inner(domain, 0);  // above 0 if a slice must be completed
    const Units from = none > 0 ? none : capacity_.inner(domain, least);
    for (const CountStep& inner : pool_costs_.counts(domain, from, capacity_.inner(domain, most))) {
      if (inner.units < none) continue;
      if (steps.empty()) steps.push_back({0, inner.counts});
      const Units units = std::min(most, capacity_.outer(domain, inner.units));
      if (units > steps.back().units) steps.push_back({units, inner.counts + own});
    }
    return steps;
  }
  const ChildFold fold(*this, domain, least, most, ChildFold::For::counts);
  for (Units units = most; units >= std::max(1, least); --units) {
    const Counts found = fold.counts(units);
    if (steps.empty() || found < steps.back().counts) steps.push_back({units, found});
  }
  for (CountStep& step : steps) step.counts += own;
  steps.push_back({0, capacity_.base(domain) == 0 ? 0 : fold.counts(0)});
  std::reverse(steps.begin(), steps.end());
  return steps;
}

TightSteps FewestDomains::tight_steps(DomainId domain, Units least, Units most) {
  TightSteps steps;
  const Counts own = own_counts(domain);
  const Tight mine = own_tight(domain);
  if (capacity_.is_pool(domain)) {
    const Units none = capacity_.inner(domain, 0);
    const Units from = none > 0 ? none : capacity_.inner(domain, least);
    for (const TightStep& inner : pool_costs_.tight(domain, from, capacity_.inner(domain, most))) {
      if (inner.units < none) continue;
      if (steps.empty()) steps.push_back({0, inner.counts, inner.tight});
      const Units units = std::min(most, capacity_.outer(domain, inner.units));
      if (units > steps.back().units)
        steps.push_back({units, inner.counts + own, inner.tight + mine});
    }
    return steps;
  }
  ChildFold fold(*this, domain, least, most, ChildFold::For::shares);
  fold.find_tightest();
  for (Units units = most; units >= std::max(1, least); --units) {
    const TightStep step{units, fold.counts(units), fold.tight(units)};
    if (steps.empty() || step.counts < steps.back().counts ||
        (step.counts == steps.back().counts && step.tight < steps.back().tight))
      steps.push_back(step);
  }
  for (TightStep& step : steps) {
    step.counts += own;
    step.tight += mine;
  }
  if (capacity_.base(domain) == 0)
    steps.push_back({0, 0, 0});
  else
    steps.push_back({0, fold.counts(0), fold.tight(0)});
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::vector<Share> FewestDomains::place(DomainId domain, int pods) {
  std::vector<Share> out;
  descend(domain, units(domain, pods), out);
  return out;
}

void FewestDomains::descend(DomainId domain, Units units, std::vector<Share>& out) {
  if (units == 0 && capacity_.base(domain) == 0) return;
  if (capacity_.is_pool(domain))
    return pool_costs_.place(domain, capacity_.inner(domain, units), out);
  const std::vector<Candidate> singles = single_children(domain, units);
  if (!singles.empty()) {
    const int pods = capacity_.pods(domain, units);
    const DomainId child = choose(singles, pods);
    return descend(child, this->units(child, pods), out);
  }
  ChildFold fold(*this, domain, units, units, ChildFold::For::shares);
  fold.find_tightest();
  for (const auto& [child, share] : fold.shares(units)) descend(child, share, out);
}

}  // namespace chipweave::solver
