#include "common/solver/gang/uniform/fewest_domains.hpp"

#include <algorithm>
#include <numeric>

#include "common/solver/gang/uniform/child_fold.hpp"

namespace chipweave::solver {
namespace {

// A level's field: no more domains than there are, and each one used holds a pod. The number of
// nodes is of interest only where it does not follow from another.
std::vector<std::uint64_t> most_used(const Fabric& fabric, const Room& room, int pods) {
  const auto most = static_cast<std::uint64_t>(std::max(pods, 0));
  std::vector<std::uint64_t> used;
  used.reserve(fabric.levels() + 1);
  for (int level = 0; level < static_cast<int>(fabric.levels()); ++level)
    used.push_back(std::min<std::uint64_t>(most, fabric.domains_at(level)));
  used.push_back(std::min<std::uint64_t>(most, fabric.size()));
  if (room.one_node_each()) {
    used.back() = 0;
    if (room.nodes_follow() && fabric.levels() > 0) used[fabric.levels() - 1] = 0;
  } else if (room.nodes_follow()) {
    used.back() = 0;
  }
  return used;
}

// Candidates that were looked at: of those that are alike the first is enough.
class Alike {
 public:
  explicit Alike(const Room& room) : room_(room) {}
  bool before(const FewestDomains::Candidate& one) {
    const auto same = [&](const FewestDomains::Candidate& other) {
      return room_.likeness(one.domain) == room_.likeness(other.domain) &&
             one.counts == other.counts && one.tight == other.tight;
    };
    if (std::any_of(seen_.begin(), seen_.end(), same)) return true;
    seen_.push_back(one);
    return false;
  }

 private:
  const Room& room_;
  std::vector<FewestDomains::Candidate> seen_;
};

}  // namespace

FewestDomains::FewestDomains(const Fabric& fabric, const Room& room, int pods, FoldLimits limits)
    : fabric_(fabric),
      room_(room),
      layout_(most_used(fabric, room, pods), room.free(kRootDomain)),
      units_(fabric, room, layout_),
      limits_(limits) {}

Counts FewestDomains::own_counts(DomainId domain) const {
  const int level = fabric_.level(domain);
  return level < 0 || room_.paid(domain) ? 0 : layout_.count(static_cast<std::size_t>(level));
}

Tight FewestDomains::own_tight(DomainId domain) const {
  const int level = fabric_.level(domain);
  return level < 0 || room_.paid(domain)
             ? 0
             : layout_.tight(static_cast<std::size_t>(level), room_.free(domain));
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

// At the level below as many children as the largest would do, from there on not fewer, and nodes
// as if they stood side by side.
Counts FewestDomains::bound(DomainId id, int pods) const {
  Counts least = own_counts(id);
  if (room_.paid(id) || pods == 0) return least;
  const std::size_t levels = fabric_.levels();
  const auto nodes_beside = static_cast<std::uint64_t>(room_.fewest_nodes(id, pods));
  if (room_.unit(id)) {
    const bool rack = fabric_.is_rack(id);
    return least + layout_.count(levels, nodes_beside) +
           (rack ? layout_.count(levels - 1, nodes_beside) : 0);
  }
  std::vector<int> rooms;
  for (const DomainId child : fabric_.children(id)) rooms.push_back(room_.most(child));
  std::sort(rooms.begin(), rooms.end(), std::greater<>());
  std::uint64_t children = 0;
  for (std::int64_t held = 0; children < rooms.size() && held < pods;) held += rooms[children++];
  const std::uint64_t nodes = std::max(children, nodes_beside);
  for (std::size_t level = static_cast<std::size_t>(fabric_.level(id)) + 1; level < levels; ++level)
    least += layout_.count(level, level + 1 == levels && room_.one_node_each() ? nodes : children);
  return least + layout_.count(levels, nodes);
}

std::vector<FewestDomains::Candidate> FewestDomains::single_children(DomainId domain,
                                                                     Amount amount) const {
  std::vector<Candidate> out;
  if (room_.unit(domain) || room_.paid(domain) || amount == 0) return out;
  const Amount inside = room_.inner(domain, amount);
  for (const DomainId child : fabric_.children(domain)) {
    if (room_.amount(child) >= inside) out.push_back({child, 0, 0});
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
  Alike seen(room_);
  for (const Entry& entry : order) {
    if (entry.least > fewest) break;
    const Candidate& one = candidates[entry.position];
    if (seen.before(one)) continue;
    const Counts found = one.counts + counts_of(one.domain, amount(one.domain, pods));
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
    const Tight found = one.tight + tight_of(one.domain, amount(one.domain, pods));
    if (found < tightest || (found == tightest && i < chosen)) {
      tightest = found;
      chosen = i;
    }
  }
  return candidates[chosen].domain;
}

Counts FewestDomains::counts_of(DomainId domain, Amount amount) {
  const std::vector<Candidate> singles = single_children(domain, amount);
  if (singles.empty()) return count_stairs(domain, amount, amount).back().counts;
  const int pods = room_.pods(domain, amount);
  std::vector<std::pair<Counts, DomainId>> order;
  order.reserve(singles.size());
  for (const Candidate& one : singles) order.emplace_back(bound(one.domain, pods), one.domain);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Counts fewest = kImpossible;
  Alike seen(room_);
  for (const auto& [least, child] : order) {
    if (least >= fewest) break;
    if (seen.before({child, 0, 0})) continue;
    fewest = std::min(fewest, counts_of(child, this->amount(child, pods)));
  }
  return fewest + own_counts(domain);
}

Tight FewestDomains::tight_of(DomainId domain, Amount amount) {
  const std::vector<Candidate> singles = single_children(domain, amount);
  if (singles.empty()) return tight_stairs(domain, amount, amount).back().tight;
  const int pods = room_.pods(domain, amount);
  const DomainId child = choose(singles, pods);
  return own_tight(domain) + tight_of(child, this->amount(child, pods));
}

CountStairs FewestDomains::count_stairs(DomainId domain, Amount least, Amount most) {
  CountStairs steps;
  const Counts own = own_counts(domain);
  if (room_.unit(domain)) {
    const Amount none = room_.inner(domain, 0);  // more than 0 where a slice must be made whole
    const Amount from = none > 0 ? none : room_.inner(domain, least);
    for (const CountStep& inner : units_.counts(domain, from, room_.inner(domain, most))) {
      if (inner.amount < none) continue;
      if (steps.empty()) steps.push_back({0, inner.counts});
      const Amount amount = std::min(most, room_.outer(domain, inner.amount));
      if (amount > steps.back().amount) steps.push_back({amount, inner.counts + own});
    }
    return steps;
  }
  const ChildFold fold(*this, domain, least, most, ChildFold::For::counts);
  for (Amount amount = most; amount >= std::max(1, least); --amount) {
    const Counts found = fold.counts(amount);
    if (steps.empty() || found < steps.back().counts) steps.push_back({amount, found});
  }
  for (CountStep& step : steps) step.counts += own;
  steps.push_back({0, room_.base(domain) == 0 ? 0 : fold.counts(0)});
  std::reverse(steps.begin(), steps.end());
  return steps;
}

TightStairs FewestDomains::tight_stairs(DomainId domain, Amount least, Amount most) {
  TightStairs steps;
  const Counts own = own_counts(domain);
  const Tight mine = own_tight(domain);
  if (room_.unit(domain)) {
    const Amount none = room_.inner(domain, 0);
    const Amount from = none > 0 ? none : room_.inner(domain, least);
    for (const TightStep& inner : units_.tight(domain, from, room_.inner(domain, most))) {
      if (inner.amount < none) continue;
      if (steps.empty()) steps.push_back({0, inner.counts, inner.tight});
      const Amount amount = std::min(most, room_.outer(domain, inner.amount));
      if (amount > steps.back().amount)
        steps.push_back({amount, inner.counts + own, inner.tight + mine});
    }
    return steps;
  }
  ChildFold fold(*this, domain, least, most, ChildFold::For::shares);
  fold.find_tightest();
  for (Amount amount = most; amount >= std::max(1, least); --amount) {
    const TightStep step{amount, fold.counts(amount), fold.tight(amount)};
    if (steps.empty() || step.counts < steps.back().counts ||
        (step.counts == steps.back().counts && step.tight < steps.back().tight))
      steps.push_back(step);
  }
  for (TightStep& step : steps) {
    step.counts += own;
    step.tight += mine;
  }
  if (room_.base(domain) == 0)
    steps.push_back({0, 0, 0});
  else
    steps.push_back({0, fold.counts(0), fold.tight(0)});
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::vector<Share> FewestDomains::place(DomainId domain, int pods) {
  std::vector<Share> out;
  descend(domain, amount(domain, pods), out);
  return out;
}

void FewestDomains::descend(DomainId domain, Amount amount, std::vector<Share>& out) {
  if (amount == 0 && room_.base(domain) == 0) return;
  if (room_.unit(domain)) return units_.place(domain, room_.inner(domain, amount), out);
  const std::vector<Candidate> singles = single_children(domain, amount);
  if (!singles.empty()) {
    const int pods = room_.pods(domain, amount);
    const DomainId child = choose(singles, pods);
    return descend(child, this->amount(child, pods), out);
  }
  ChildFold fold(*this, domain, amount, amount, ChildFold::For::shares);
  fold.find_tightest();
  for (const auto& [child, share] : fold.shares(amount)) descend(child, share, out);
}

}  // namespace chipweave::solver
