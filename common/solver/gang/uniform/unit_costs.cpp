#include "common/solver/gang/uniform/unit_costs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace chipweave::solver {
namespace {

constexpr std::size_t kMaxCells = 1U << 16U;  // of a table of Tightest, a group

}  // namespace

UnitCosts::Groups UnitCosts::groups(DomainId unit) const {
  Groups out;
  for (const Room::Kind& kind : room_.kinds(unit)) {
    if (kind.paid) {
      out.paid += kind.amount;  // it stands alone
      continue;
    }
    if (kind.amount == 0) continue;
    if (!out.list.empty() && out.list.back().amount == kind.amount &&
        out.list.back().free == kind.free)
      out.list.back().count += kind.count;
    else
      out.list.push_back({kind.amount, kind.free, kind.count});
  }
  return out;
}

Counts UnitCosts::node_counts(DomainId unit) const {
  const std::size_t levels = fabric_.levels();
  return layout_.count(levels) + (fabric_.is_rack(unit) ? layout_.count(levels - 1) : 0);
}

Tight UnitCosts::node_tight(DomainId unit, std::uint64_t free) const {
  const std::size_t levels = fabric_.levels();
  return layout_.tight(levels, free) +
         (fabric_.is_rack(unit) ? layout_.tight(levels - 1, free) : 0);
}

std::vector<Tight> UnitCosts::tight_of(DomainId unit, const Groups& groups) const {
  std::vector<Tight> out;
  for (const Group& group : groups.list) out.push_back(node_tight(unit, group.free));
  return out;
}

CountStairs UnitCosts::counts(DomainId unit, Amount least, Amount most) const {
  CountStairs steps;
  const Counts each = node_counts(unit);
  steps.push_back({0, 0});
  if (each == 0) {
    if (most > 0) steps.push_back({most, 0});
    return steps;
  }
  Amount held = 0;
  Counts cost = 0;
  const auto step = [&] {
    if (held < least || held == 0) return;
    steps.push_back({std::min(held, most), cost});
  };
  for (const Room::Kind& kind : room_.kinds(unit)) {
    if (kind.paid) held += kind.amount;
  }
  step();
  for (const Room::Kind& kind : room_.kinds(unit)) {
    if (kind.paid || kind.amount == 0) continue;
    for (int i = 0; i < kind.count && held < most; ++i) {
      held += kind.amount;
      cost += each;
      step();
    }
  }
  return steps;
}

// Of ways that take exactly `nodes` nodes: for each amount that they hold less than the largest so
// many (the loss), the least free chips. Groups one after another; what the best completion of a
// choice would hold says what it has lost.
class UnitCosts::Tightest {
 public:
  Tightest(const Groups& groups, const std::vector<Tight>& tight, int nodes, Amount loss)
      : groups_(groups.list), tight_(tight), nodes_(nodes) {
    const auto cells = static_cast<std::size_t>(nodes) + 1;
    losses_ = std::min(static_cast<std::size_t>(loss), kMaxCells / cells) + 1;
    largest_.push_back(0);
    first_.push_back(0);
    for (const Group& group : groups_) {
      for (int i = 0; i < group.count; ++i) largest_.push_back(largest_.back() + group.amount);
      first_.push_back(first_.back() + group.count);
    }
    best_.assign(cells * losses_, kLoosest);
    best_[0] = 0;
    for (std::size_t group = 0; group < groups_.size(); ++group) add(group);
  }
  // The least free chips if at most so much is lost.
  Tight best(Amount loss) const {
    Tight least = kLoosest;
    for (std::size_t l = 0; l < losses_ && l <= static_cast<std::size_t>(loss); ++l)
      least = std::min(least, at(nodes_, l));
    return least;
  }
  // Nodes of each group in that way.
  std::vector<int> taken(Amount loss) const {
    std::size_t lost = 0;
    for (std::size_t l = 0; l < losses_ && l <= static_cast<std::size_t>(loss); ++l)
      if (at(nodes_, l) < at(nodes_, lost)) lost = l;
    std::vector<int> out(groups_.size(), 0);
    int chosen = nodes_;
    for (std::size_t group = groups_.size(); group-- > 0;) {
      const int take = choices_[group][cell(chosen, lost)];
      lost -= static_cast<std::size_t>(loss_of(group, chosen - take, take));
      chosen -= take;
      out[group] = take;
    }
    return out;
  }

 private:
  std::size_t cell(int chosen, std::size_t loss) const {
    return static_cast<std::size_t>(chosen) * losses_ + loss;
  }
  Tight at(int chosen, std::size_t loss) const { return best_[cell(chosen, loss)]; }
  // The most that `nodes` nodes of the groups from that one hold; -1: there are not as many.
  std::int64_t top(std::size_t group, int nodes) const {
    const auto from = static_cast<std::size_t>(first_[group]);
    const std::size_t to = from + static_cast<std::size_t>(nodes);
    return to < largest_.size() ? largest_[to] - largest_[from] : -1;
  }
  // By taking so many of the group after `chosen` of those before; -1: it cannot be completed.
  std::int64_t loss_of(std::size_t group, int chosen, int take) const {
    const std::int64_t rest = top(group + 1, nodes_ - chosen - take);
    if (rest < 0) return -1;
    return top(group, nodes_ - chosen) - (rest + std::int64_t{groups_[group].amount} * take);
  }
  void add(std::size_t group) {
    std::vector<Tight> next(best_.size(), kLoosest);
    std::vector<std::int32_t>& choice = choices_.emplace_back(best_.size(), 0);
    for (int chosen = 0; chosen <= nodes_; ++chosen) {
      for (std::size_t lost = 0; lost < losses_; ++lost) {
        const Tight from = at(chosen, lost);
        if (from == kLoosest) continue;
        for (int take = std::min(groups_[group].count, nodes_ - chosen); take >= 0; --take) {
          const std::int64_t loss = loss_of(group, chosen, take);
          if (loss < 0) continue;
          if (lost + static_cast<std::size_t>(loss) >= losses_) break;
          const std::size_t to = cell(chosen + take, lost + static_cast<std::size_t>(loss));
          const Tight with = from + tight_[group] * static_cast<unsigned>(take);
          if (with < next[to]) {
            next[to] = with;
            choice[to] = take;
          }
        }
      }
    }
    best_ = std::move(next);
  }

  const std::vector<Group>& groups_;
  const std::vector<Tight>& tight_;
  int nodes_;
  std::size_t losses_ = 1;
  std::vector<std::int64_t> largest_;               // [k]: what the k largest nodes hold
  std::vector<int> first_;                          // nodes of the groups before that one
  std::vector<Tight> best_;                         // by nodes chosen and loss
  std::vector<std::vector<std::int32_t>> choices_;  // by group
};

TightStairs UnitCosts::tight(DomainId unit, Amount least, Amount most) const {
  TightStairs steps;
  const Groups all = groups(unit);
  const std::vector<Tight> tight = tight_of(unit, all);
  const Counts each = node_counts(unit);
  steps.push_back({0, 0, 0});
  if (all.paid > 0 && all.paid >= least) steps.push_back({std::min(all.paid, most), 0, 0});
  if (each == 0) {
    if (most > steps.back().amount) steps.push_back({most, 0, 0});
    return steps;
  }
  Amount held = all.paid;
  int nodes = 0;
  for (const Group& group : all.list) {
    for (int i = 0; i < group.count && held < most; ++i) {
      const Amount before = held;
      held += group.amount;
      ++nodes;
      if (held < least) continue;
      const Amount from = std::max(least, before + 1);
      const Tightest ways(all, tight, nodes, held - from);
      for (Amount amount = from; amount <= std::min(held, most); ++amount) {
        const TightStep step{amount, each * static_cast<unsigned>(nodes), ways.best(held - amount)};
        // A later amount that costs as much covers the earlier one.
        if (steps.back().amount > 0 && steps.back().counts == step.counts &&
            steps.back().tight == step.tight)
          steps.back() = step;
        else
          steps.push_back(step);
      }
    }
  }
  return steps;
}

void UnitCosts::place(DomainId unit, Amount amount, std::vector<Share>& out) const {
  const Groups all = groups(unit);
  const int step = room_.inner_step(unit);
  Amount by_paid = std::min(amount, all.paid);
  Amount rest = amount - by_paid;
  int nodes = 0;
  Amount held = 0;
  for (const Group& group : all.list) {
    for (int i = 0; i < group.count && held < rest; ++i, ++nodes) held += group.amount;
  }
  const std::vector<Tight> tight = tight_of(unit, all);
  std::vector<int> taken = Tightest(all, tight, nodes, held - rest).taken(held - rest);
  fabric_.each_node(unit, [&](FabricNodeId id) {
    const Room::Kind kind = room_.of_node(id);
    Amount here = 0;
    if (kind.paid) {
      here = std::min(by_paid, kind.amount);
      by_paid -= here;
    } else {
      const auto group = std::lower_bound(
          all.list.begin(), all.list.end(), kind, [](const Group& a, const Room::Kind& b) {
            return a.amount != b.amount ? a.amount > b.amount : a.free < b.free;
          });
      const bool known =
          group != all.list.end() && group->amount == kind.amount && group->free == kind.free;
      if (int* left = known ? &taken[static_cast<std::size_t>(group - all.list.begin())] : nullptr;
          left != nullptr && *left > 0) {
        --*left;
        here = std::min(rest, kind.amount);
        rest -= here;
      }
    }
    if (here > 0 || kind.base > 0) out.emplace_back(id, kind.base + here * step);
  });
}

}  // namespace chipweave::solver
