#include "scheduler-plugin/app/chip_division.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace chipweave::sched {
namespace {

constexpr int kWorkOfChoice = 16;  // beside a step through values

// Gives each request its number of chips out of what it may have, if that is possible at all:
// augmenting paths, one for each chip that it wants.
class Matching {
 public:
  Matching(const std::vector<ChipSet>& allowed, const std::vector<int>& counts)
      : allowed_(allowed), chips_(counts.size()) {
    for (std::size_t i = 0; i < counts.size() && complete_; ++i) {
      for (int k = 0; k < counts[i] && complete_; ++k) {
        ChipSet seen;
        complete_ = grow(i, seen);
      }
    }
  }
  bool complete() const { return complete_; }
  const std::vector<ChipSet>& chips() const { return chips_; }

 private:
  bool grow(std::size_t request, ChipSet& seen) {
    for (const int slot : allowed_[request]) {
      if (seen.contains(slot) || chips_[request].contains(slot)) continue;
      seen.insert(slot);
      const auto owner =
          std::find_if(chips_.begin(), chips_.end(), [&](ChipSet of) { return of.contains(slot); });
      if (owner != chips_.end()) {
        if (!grow(static_cast<std::size_t>(owner - chips_.begin()), seen)) continue;
        owner->erase(slot);
      }
      chips_[request].insert(slot);
      return true;
    }
    return false;
  }

  const std::vector<ChipSet>& allowed_;
  std::vector<ChipSet> chips_;
  bool complete_ = true;
};

ChipSet united(const std::vector<ChipSet>& sets) {
  return std::accumulate(sets.begin(), sets.end(), ChipSet(),
                         [](ChipSet a, ChipSet b) { return a | b; });
}

class Divider {
 public:
  Divider(solver::Machine& machine, const DivisionRequest& request, DivisionWork& work)
      : machine_(machine), request_(request), work_(work) {
    for (const EqualAttribute& equal : request.equal) rules_.push_back(rule_of(equal));
    // those with few values first: the others are tried again and again
    std::stable_sort(rules_.begin(), rules_.end(),
                     [](const Rule& a, const Rule& b) { return a.slots.size() < b.slots.size(); });
  }

  std::optional<Division> run() {
    const std::vector<ChipSet> allowed(request_.counts.size(), request_.usable);
    if (rules_.empty()) {
      try_sets(allowed);
    } else {
      try_values(0, allowed);
    }
    return std::move(best_);
  }

 private:
  struct Rule {
    const std::vector<std::size_t>* requests;
    std::vector<ChipSet> slots;  // by value, of those that are enough for each request
  };

  bool enough(ChipSet slots, std::size_t request) const {
    return slots.size() >= request_.counts[request];
  }

  Rule rule_of(const EqualAttribute& equal) const {
    std::map<std::string, ChipSet, std::less<>> by_value;
    for (const auto& [slot, attributes] : request_.attributes) {
      const auto at = attributes.find(equal.attribute);
      if (at != attributes.end()) by_value[at->second].insert(slot);
    }
    Rule rule{&equal.requests, {}};
    for (const auto& [value, slots] : by_value) {
      const ChipSet usable = slots & request_.usable;
      if (std::all_of(equal.requests.begin(), equal.requests.end(),
                      [&, &of = usable](std::size_t i) { return enough(of, i); }))
        rule.slots.push_back(usable);
    }
    return rule;
  }

  // Tries each value of the rule's attribute, then those of the rules after it.
  void try_values(std::size_t number, const std::vector<ChipSet>& allowed) {
    if (work_.is_over()) return;
    --work_.left;
    if (number == rules_.size()) {
      work_.left -= kWorkOfChoice;
      return try_sets(allowed);
    }
    const Rule& rule = rules_[number];
    for (const ChipSet slots : rule.slots) {
      std::vector<ChipSet> narrowed = allowed;
      bool fits = true;
      for (const std::size_t i : *rule.requests) {
        narrowed[i] = narrowed[i] & slots;
        fits = fits && enough(narrowed[i], i);
      }
      if (fits && Matching(narrowed, request_.counts).complete()) try_values(number + 1, narrowed);
    }
  }

  void try_sets(const std::vector<ChipSet>& allowed) {
    std::vector<ChipSet> chips;
    const bool alike = std::all_of(allowed.begin(), allowed.end(),
                                   [&](ChipSet one) { return one == allowed.front(); });
    if (alike) {
      const int total = std::accumulate(request_.counts.begin(), request_.counts.end(), 0);
      const solver::Choice all = machine_.choose({allowed.front(), {}, {}, total, false});
      if (!all.fits) return;
      chips = parts_of(std::vector<ChipSet>(allowed.size(), all.chips));
    } else {
      chips = parts_of(allowed);
    }
    if (chips.empty()) return;
    const ChipSet all = united(chips);
    const double gbps = machine_.gbps(all);
    const bool better = !best_ || gbps > best_->gbps ||
                        (gbps == best_->gbps && lower_indices(all, united(best_->chips)));
    if (better) best_ = Division{std::move(chips), gbps};
  }

  // The best set for each request in turn, largest first, as long as the others can still be
  // served. Empty: they cannot.
  std::vector<ChipSet> parts_of(std::vector<ChipSet> allowed) {
    const Matching possible(allowed, request_.counts);
    if (!possible.complete()) return {};
    std::vector<std::size_t> order(allowed.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return request_.counts[a] > request_.counts[b];
    });
    for (const std::size_t i : order) {
      const solver::Choice best = machine_.choose({allowed[i], {}, {}, request_.counts[i], false});
      std::vector<ChipSet> next = allowed;
      if (best.fits) settle(next, i, best.chips);
      if (!best.fits || !Matching(next, request_.counts).complete()) {
        const Matching any(allowed, request_.counts);
        next = allowed;
        settle(next, i, any.chips()[i]);
      }
      allowed = std::move(next);
    }
    return allowed;
  }

  static void settle(std::vector<ChipSet>& allowed, std::size_t request, ChipSet chips) {
    for (std::size_t i = 0; i < allowed.size(); ++i) {
      if (i != request) allowed[i] -= chips;
    }
    allowed[request] = chips;
  }

  solver::Machine& machine_;
  const DivisionRequest& request_;
  DivisionWork& work_;
  std::vector<Rule> rules_;
  std::optional<Division> best_;
};

}  // namespace

std::optional<Division> divide(solver::Machine& machine, const DivisionRequest& request,
                               DivisionWork& work) {
  return Divider(machine, request, work).run();
}

}  // namespace chipweave::sched
