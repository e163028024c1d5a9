#include "common/solver/gang/uniform/pool_costs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace chipweave::solver {
namespace {

constexpr std::size_t kMaxCells = 1U << 16U;  // of a table of Tightest, per group

}  // namespace

PoolCosts::Groups PoolCosts::groups(DomainId pool) const {
  Groups out;
  for (const Capacity::Kind& kind : capacity_.kinds(pool)) {
    if (kind.already_used) {
      out.already_used += kind.units;  // a kind of its own
      continue;
    }
    if (kind.units == 0) continue;
    if (!out.list.empty() && out.list.back().units == kind.units &&
        out.list.back().free == kind.free)
      out.list.back().count += kind.count;
    else
      out.list.push_back({kind.units, kind.free, kind.count});
  }
  return out;
}

Counts PoolCosts::node_counts(DomainId pool) const {
  const std::size_t levels = fabric_.levels();
  return layout_.count(levels) + (fabric_.is_rack(pool) ? layout_.count(levels - 1) : 0);
}

Tight PoolCosts::node_tight(DomainId pool, std::uint64_t free) const {
  const std::size_t levels = fabric_.levels();
  return layout_.tight(levels, free) +
         (fabric_.is_rack(pool) ? layout_.tight(levels - 1, free) : 0);
}

std::vector<Tight> PoolCosts::tight_of(DomainId pool, const Groups& groups) const {
  std::vector<Tight> out;
  for (const Group& group : groups.list) out.push_back(node_tight(pool, group.free));
  return out;
}

CountSteps PoolCosts::counts(DomainId pool, Units least, Units most) const {
  CountSteps steps;
  const Counts each = node_counts(pool);
  steps.push_back({0, 0});
  if (each == 0) {
    if (most > 0) steps.push_back({most, 0});
    return steps;
  }
  Units held = 0;
  Counts cost = 0;
  const auto step = [&] {
    if (held < least || held == 0) return;
    steps.push_back({std::min(held, most), cost});
  };
  for (const Capacity::Kind& kind : capacity_.kinds(pool)) {
    if (kind.already_used) held += kind.units;
  }
  step();
  for (const Capacity::Kind& kind : capacity_.kinds(pool)) {
    if (kind.already_used || kind.units == 0) continue;
    for (int i = 0; i < kind.count && held < most; ++i) {
      held += kind.units;
      cost += each;
      step();
    }
  }
  return steps;
}

// Choices of exactly `nodes` nodes: for each loss, the units that they hold less than the largest
// nodes would, the fewest free chips. A dynamic programme over groups; the loss of a partial choice
// is that of its best completion.
class PoolCosts::Tightest {
 public:
  Tightest(const Groups& groups, const std::vector<Tight>& tight, int nodes, Units loss)
      : groups_(groups.list), tight_(tight), nodes_(nodes) {
    const auto cells = static_cast<std::size_t>(nodes) + 1;
    losses_ = std::min(static_cast<std::size_t>(loss), kMaxCells / cells) + 1;
    largest_.push_back(0);
    first_.push_back(0);
    for (const Group& group : groups_) {
      for (int i = 0; i < group.count; ++i) largest_.push_back(largest_.back() + group.units);
      first_.push_back(first_.back() + group.count);
    }
    best_.assign(cells * losses_, kLoosest);
    best_[0] = 0;
    for (std::size_t group = 0; group < groups_.size(); ++group) add(group);
  }
  // The fewest free chips with at most this loss.
  Tight best(Units loss) const {
    Tight least = kLoosest;
    for (std::size_t l = 0; l < losses_ && l <= static_cast<std::size_t>(loss); ++l)
      least = std::min(least, at(nodes_, l));
    return least;
  }
  // The nodes of each group in that choice.
  std::vector<int> taken(Units loss) const {
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
  // The most that `nodes` nodes of this group and later ones hold; -1: there are fewer.
  std::int64_t top(std::size_t group, int nodes) const {
    const auto from = static_cast<std::size_t>(first_[group]);
    const std::size_t to = from + static_cast<std::size_t>(nodes);
    return to < largest_.size() ? largest_[to] - largest_[from] : -1;
  }
  // The loss of taking so many of the group after `chosen` of the ones before; -1: cannot be
  // completed.
  std::int64_t loss_of(std::size_t group, int chosen, int take) const {
    const std::int64_t rest = top(group + 1, nodes_ - chosen - take);
    if (rest < 0) return -1;
    return top(group, nodes_ - chosen) - (rest + std::int64_t{groups_[group].units} * take);
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

TightSteps PoolCosts::tight(DomainId pool, Units least, Units most) const {
  TightSteps steps;
  const Groups all = groups(pool);
  const std::vector<Tight> tight = tight_of(pool, all);
  const Counts each = node_counts(pool);
  steps.push_back({0, 0, 0});
  if (all.already_used > 0 && all.already_used >= least)
    steps.push_back({std::min(all.already_used, most), 0, 0});
  if (each == 0) {
    if (most > steps.back().units) steps.push_back({most, 0, 0});
    return steps;
  }
  Units held = all.already_used;
  int nodes = 0;
  for (const Group& group : all.list) {
    for (int i = 0; i < group.count && held < most; ++i) {
      const Units before = held;
      held += group.units;
      ++nodes;
      if (held < least) continue;
      const Units from = std::max(least, before + 1);
      const Tightest ways(all, tight, nodes, held - from);
      for (Units units = from; units <= std::min(held, most); ++units) {
        const TightStep step{units, each * static_cast<unsigned>(nodes), ways.best(held - units)};
        // A later step of the same cost replaces the earlier one.
        if (steps.back().units > 0 && steps.back().counts == step.counts &&
            steps.back().tight == step.tight)
          steps.back() = step;
        else
          steps.push_back(step);
      }
    }
  }
  return steps;
}

void PoolCosts::place(DomainId pool, Units units, std::vector<Share>& out) const {
  const Groups all = groups(pool);
  const int step = capacity_.inner_step(pool);
  Units by_used = std::min(units, all.already_used);
  Units rest = units - by_used;
  int nodes = 0;
  Units held = 0;
  for (const Group& group : all.list) {
    for (int i = 0; i < group.count && held < rest; ++i, ++nodes) held += group.units;
  }
  const std::vector<Tight> tight = tight_of(pool, all);
  std::vector<int> taken = Tightest(all, tight, nodes, held - rest).taken(held - rest);
  fabric_.each_node(pool, [&](FabricNodeId id) {
    const Capacity::Kind kind = capacity_.of_node(id);
    Units here = 0;
    if (kind.already_used) {
      here = std::min(by_used, kind.units);
      by_used -= here;
    } else {
      const auto group = std::lower_bound(
          all.list.begin(), all.list.end(), kind, [](const Group& a, const Capacity::Kind& b) {
            return a.units != b.units ? a.units > b.units : a.free < b.free;
          });
      const bool known =
          group != all.list.end() && group->units == kind.units && group->free == kind.free;
      if (int* left = known ? &taken[static_cast<std::size_t>(group - all.list.begin())] : nullptr;
          left != nullptr && *left > 0) {
        --*left;
        here = std::min(rest, kind.units);
        rest -= here;
      }
    }
    if (here > 0 || kind.base > 0) out.emplace_back(id, kind.base + here * step);
  });
}

}  // namespace chipweave::solver
