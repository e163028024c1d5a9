#include "common/solver/gang/uniform/even_shares.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "common/domain/gang.hpp"

namespace chipweave::solver {

std::vector<Units> level_shares(const std::vector<Units>& most, Units all) {
  const auto held = [&](Units level) {
    std::int64_t sum = 0;
    for (const Units one : most) sum += std::min(one, level);
    return sum;
  };
  Units low = 0;  // holds less than `all`, or it is 0
  Units high = most.empty() ? 0 : *std::max_element(most.begin(), most.end());
  if (held(high) <= all) return most;
  while (low + 1 < high) {
    const Units middle = low + (high - low) / 2;
    (held(middle) <= all ? low : high) = middle;
  }
  std::vector<Units> shares;
  shares.reserve(most.size());
  for (const Units one : most) shares.push_back(std::min(one, low));
  auto rest = static_cast<Units>(all - held(low));
  for (std::size_t i = 0; i < shares.size() && rest > 0; ++i) {
    if (most[i] <= low) continue;
    ++shares[i];
    --rest;
  }
  return shares;
}

EvenShares::EvenShares(const Fabric& fabric, const Capacity& capacity, const PodKind& kind,
                       FewestDomains& compact, int level)
    : fabric_(fabric),
      capacity_(capacity),
      compact_(compact),
      level_(level == domain::kNoLevel ? static_cast<int>(fabric.levels()) : level) {
  for (int at = level_ - 1; at >= 0; --at) {
    if (static_cast<std::size_t>(at) >= kind.slices.size()) continue;
    if (kind.slices[static_cast<std::size_t>(at)] > 1) {
      level_ = at;
      lifted_ = true;
      break;
    }
  }
}

EvenShares::Part EvenShares::part(DomainId domain) const {
  return {false,
          domain,
          capacity_.units(domain),
          capacity_.base(domain),
          capacity_.step(domain),
          capacity_.free(domain),
          domain};
}

void EvenShares::nodes_of(DomainId pool, std::vector<Part>& out) const {
  fabric_.each_node(pool, [&](FabricNodeId node) {
    const Capacity::Kind kind = capacity_.of_node(node);
    if (kind.units > 0 || kind.base > 0)
      out.push_back(
          {true, node, kind.units, kind.base, capacity_.inner_step(pool), kind.free, pool});
  });
}

void EvenShares::parts_of(DomainId domain, std::vector<Part>& out) const {
  if (fabric_.level(domain) >= level_) {
    if (capacity_.most(domain) > 0) out.push_back(part(domain));
  } else if (capacity_.is_pool(domain)) {
    nodes_of(domain, out);
  } else {
    for (const DomainId child : fabric_.children(domain)) parts_of(child, out);
  }
}

// Children, or the nodes of a pool.
std::vector<EvenShares::Part> EvenShares::inside(const Part& one) const {
  std::vector<Part> out;
  if (capacity_.is_pool(one.id)) {
    nodes_of(one.id, out);
    return out;
  }
  for (const DomainId child : fabric_.children(one.id))
    if (capacity_.most(child) > 0) out.push_back(part(child));
  return out;
}

std::vector<Share> EvenShares::place(const std::vector<DomainId>& candidates, int pods) {
  Choice best;
  bool found = false;
  for (const DomainId one : candidates) {
    Choice choice = best_of(one, pods);
    const bool better = !found || choice.better(best);
    if (better) best = std::move(choice);
    found = true;
  }
  std::vector<Share> out;
  finish(best, out);
  return out;
}

bool EvenShares::Choice::better(const Choice& other) const {
  if (used != other.used) return used < other.used;
  if (width != other.width) return width < other.width;
  if (ascending != other.ascending) return ascending > other.ascending;
  if (cost.counts != other.cost.counts) return cost.counts < other.cost.counts;
  if (cost.tight != other.cost.tight) return cost.tight < other.cost.tight;
  return free < other.free;
}

EvenShares::Choice EvenShares::best_of(DomainId candidate, int pods) {
  std::vector<Part> parts;
  parts_of(candidate, parts);
  Units all = pods;
  for (const Part& one : parts) all -= one.base;
  all /= parts.front().step;
  std::vector<Units> capacities;
  capacities.reserve(parts.size());
  for (const Part& one : parts) capacities.push_back(one.units);
  std::sort(capacities.begin(), capacities.end(), std::greater<>());
  const auto based = static_cast<std::size_t>(
      std::count_if(parts.begin(), parts.end(), [](const Part& p) { return p.base > 0; }));
  std::size_t fewest = 0;
  for (std::int64_t held = 0; held < all;) held += capacities[fewest++];
  if (fewest <= 1 && based == 0) {
    std::vector<Part> able;
    for (const Part& one : parts)
      if (one.units >= all) able.push_back(one);
    return over_children(able, pods);
  }
  return among_many(std::move(parts), all, fewest);
}

// One domain is enough: the one whose parts get the most equal shares, then with the fewest unused
// domains above it, then the tightest.
EvenShares::Choice EvenShares::over_children(const std::vector<Part>& able, int pods) {
  Choice best;
  for (const Part& one : able) {
    Choice choice;
    choice.used = 1;
    choice.free = one.free;
    if (one.is_node) {
      choice.parts = {one};
      choice.shares = {(pods - one.base) / one.step};
    } else {
      choice.parts = inside(one);
      Units all = pods;
      std::vector<Units> capacities;
      for (const Part& part : choice.parts) {
        all -= part.base;
        capacities.push_back(part.units);
      }
      choice.shares = level_shares(capacities, all / choice.parts.front().step);
      const auto [low, high] = std::minmax_element(choice.shares.begin(), choice.shares.end());
      choice.width = std::max(1, *high - *low);
    }
    choice.cost = compact_.candidate(one.is_node ? one.in : one.id);
    choice.cost.tight += one.free;
    if (best.used == 0 || choice.better(best)) best = std::move(choice);
  }
  return best;
}

// `count` of the parts that can have an equal share, on few domains above them.
std::vector<std::size_t> EvenShares::closest(const std::vector<Part>& parts,
                                             const std::vector<std::size_t>& able,
                                             std::size_t count) const {
  std::vector<std::size_t> out;
  if (able.size() <= count) return able;
  // Solved as a fabric whose nodes are the parts, with one pod each.
  const auto levels = static_cast<std::size_t>(parts[able.front()].is_node
                                                   ? fabric_.level(parts[able.front()].in) + 1
                                                   : fabric_.level(parts[able.front()].id));
  Fabric above(levels);
  for (const std::size_t i : able) {
    std::vector<std::string> path(levels);
    DomainId at = parts[i].is_node ? parts[i].in : fabric_.parent(parts[i].id);
    for (; at != kNowhere && fabric_.level(at) >= static_cast<int>(levels);)
      at = fabric_.parent(at);
    for (; at != kNowhere && at != kRootDomain; at = fabric_.parent(at))
      path[static_cast<std::size_t>(fabric_.level(at))] =
          fabric_.name(at).empty() ? "\x01" + std::to_string(at) : fabric_.name(at);
    const auto node = above.add(std::to_string(i), path);
    if (!node) return {able.begin(), able.begin() + static_cast<std::ptrdiff_t>(count)};
    above.set_free(*node, static_cast<int>(std::min<std::uint64_t>(parts[i].free, 1U << 30U)));
    above.set_max_pods(*node, 1);
  }
  const PodKind each{static_cast<int>(count), 0, {}};
  const NodeUsages none;
  const Capacity capacity(above, each, none);
  FewestDomains fewest(above, capacity, each.pods);
  for (const auto& [node, pods] : fewest.place(kRootDomain, each.pods)) out.push_back(able[node]);
  std::sort(out.begin(), out.end());
  return out;
}

EvenShares::Choice EvenShares::among_many(std::vector<Part> parts, Units all, std::size_t fewest) {
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return parts[a].units > parts[b].units; });
  std::vector<Units> top;
  for (std::size_t i = 0; i < fewest; ++i) top.push_back(parts[order[i]].units);
  const std::vector<Units> shares = level_shares(top, all);
  const Units most = shares.empty() ? 0 : *std::max_element(shares.begin(), shares.end());
  // Parts too small for an equal share are filled; of the others the closest are taken.
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < fewest; ++i)
    if (top[i] < most) chosen.push_back(order[i]);
  std::vector<std::size_t> able;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].units >= most) able.push_back(i);
  const std::vector<std::size_t> equal = closest(parts, able, fewest - chosen.size());
  chosen.insert(chosen.end(), equal.begin(), equal.end());
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].base > 0) chosen.push_back(i);
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  Choice out;
  out.used = chosen.size();
  std::vector<Units> capacities;
  for (const std::size_t i : chosen) {
    out.parts.push_back(parts[i]);
    out.free += parts[i].free;
    capacities.push_back(parts[i].units);
  }
  out.shares = level_shares(capacities, all);
  out.ascending = out.shares;
  std::sort(out.ascending.begin(), out.ascending.end());
  return out;
}

void EvenShares::finish(const Choice& choice, std::vector<Share>& out) {
  for (std::size_t i = 0; i < choice.parts.size(); ++i) {
    const Part& one = choice.parts[i];
    const int pods = one.base + choice.shares[i] * one.step;
    if (pods == 0) continue;
    if (one.is_node) {
      out.emplace_back(one.id, pods);
      continue;
    }
    const std::vector<Share> shares = compact_.place(one.id, pods);
    out.insert(out.end(), shares.begin(), shares.end());
  }
}

}  // namespace chipweave::solver
