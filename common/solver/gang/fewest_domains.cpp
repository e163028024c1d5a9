#include "common/solver/gang/fewest_domains.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace chipweave::solver {
namespace {

std::vector<std::uint64_t> most_used(const Fabric& fabric, int pods) {
  return std::vector<std::uint64_t>(fabric.levels() + 1, static_cast<std::uint64_t>(pods));
}

}  // namespace

FewestDomains::FewestDomains(const Fabric& fabric, const Room& room, int pods)
    : fabric_(fabric),
      room_(room),
      layout_(most_used(fabric, pods), room.free(kRootDomain)),
      count_nodes_(!(room.uniform() && (room.uniform_room() <= 1 || room.step(0) == 1))) {}

PackedCost FewestDomains::own(DomainId domain) const {
  const int level = fabric_.domain(domain).level;
  if (level < 0 || room_.existing(domain) > 0) return {};
  return layout_.one(static_cast<std::size_t>(level), room_.free(domain));
}

// The nodes of a finest domain: they are taken by kind, as many of each as are needed.
FewestDomains::Staircase FewestDomains::of_leaf(const Domain& domain, int most) {
  struct Kind {
    int room;
    int free;
    bool used;  // has pods of the gang already
    bool operator<(const Kind& other) const {
      return std::tie(room, free, used) < std::tie(other.room, other.free, other.used);
    }
  };
  std::map<Kind, int> kinds;
  for (const FabricNodeId node : domain.nodes) {
    if (room_.of_node(node) > 0)
      ++kinds[{room_.of_node(node), fabric_.node(node).free, room_.existing_on(node) > 0}];
  }
  std::vector<PackedCost> best(static_cast<std::size_t>(most) + 1, kImpossible);
  best[0] = {};
  for (const auto& [kind, count] : kinds) {
    const PackedCost each =
        kind.used ? PackedCost{}
                  : layout_.one(fabric_.levels(), static_cast<std::uint64_t>(kind.free));
    for (int pods = most; pods > 0; --pods) {
      PackedCost cost = each;
      for (int taken = 1; taken <= count; ++taken, cost = cost + each) {
        const int rest = std::max(0, pods - taken * kind.room);
        const PackedCost& before = best[static_cast<std::size_t>(rest)];
        if (!(before == kImpossible))
          best[static_cast<std::size_t>(pods)] =
              std::min(best[static_cast<std::size_t>(pods)], before + cost);
        if (rest == 0) break;
      }
    }
  }
  Staircase steps;
  for (int pods = most; pods >= 0; --pods) {
    const PackedCost& cost = best[static_cast<std::size_t>(pods)];
    if (cost == kImpossible) continue;
    if (steps.empty() || cost < steps.back().cost) steps.push_back({pods, cost});
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

// One question of a domain: its children one after another, and for each number of pods the
// cheapest way so far that holds exactly so many at most.
struct FewestDomains::Fold {
  struct Origin {
    int before = -1;  // the number of pods without the item; -1: it was not taken
    int taken = 0;
  };
  const Items& items;
  const CostLayout& layout;
  int most;
  std::vector<PackedCost> best;             // by pods
  std::vector<std::vector<Origin>> origin;  // by item, then pods; empty: not asked for

  Fold(const Items& all, const CostLayout& costs, int pods, bool remember)
      : items(all),
        layout(costs),
        most(pods),
        best(static_cast<std::size_t>(pods) + 1, kImpossible) {
    best[0] = {};
    if (remember) origin.assign(items.list.size(), std::vector<Origin>(best.size()));
  }

  // From the last to the first: of equal ways the one with the first children is kept.
  void run() {
    const std::vector<std::vector<std::int64_t>> largest = largest_before();
    for (std::size_t i = items.list.size(); i-- > 0;) add(i, largest);
  }
  // The cheapest number of pods that is not less.
  int cheapest(int pods) const {
    int found = -1;
    for (int more = most; more >= pods; --more) {
      const PackedCost& cost = best[static_cast<std::size_t>(more)];
      if (cost == kImpossible) continue;
      if (found < 0 || !(best[static_cast<std::size_t>(found)] < cost)) found = more;
    }
    return found;
  }
  Staircase steps() const {
    Staircase out;
    for (int pods = most; pods >= 0; --pods) {
      const PackedCost& cost = best[static_cast<std::size_t>(pods)];
      if (cost == kImpossible) continue;
      if (out.empty() || cost < out.back().cost) out.push_back({pods, cost});
    }
    std::reverse(out.begin(), out.end());
    return out;
  }

 private:
  // [i][k]: what the k largest of the first i items hold.
  std::vector<std::vector<std::int64_t>> largest_before() const {
    std::vector<std::vector<std::int64_t>> sums;
    if (!items.counted) return sums;
    std::vector<std::int64_t> top;  // descending
    for (std::size_t i = 0; i <= items.list.size(); ++i) {
      std::vector<std::int64_t> row(1, 0);
      for (const std::int64_t room : top) row.push_back(row.back() + room);
      sums.push_back(std::move(row));
      if (i == items.list.size()) break;
      const std::int64_t room = items.list[i].steps.back().pods;
      top.insert(std::upper_bound(top.begin(), top.end(), room, std::greater<>()), room);
      if (top.size() > items.fewest) top.pop_back();
    }
    return sums;
  }
  // Whether the items before i can still make an answer of it.
  bool useful(std::size_t i, int pods,
              const std::vector<std::vector<std::int64_t>>& largest) const {
    if (!items.counted) return true;
    const std::uint64_t used = layout.count(best[static_cast<std::size_t>(pods)], items.field);
    if (used > items.fewest) return false;
    const std::vector<std::int64_t>& row = largest[i];
    return pods + row[std::min<std::size_t>(items.fewest - used, row.size() - 1)] >= items.least;
  }
  void add(std::size_t i, const std::vector<std::vector<std::int64_t>>& largest) {
    const Staircase& steps = items.list[i].steps;
    const bool must = steps.front().pods > 0;
    for (int pods = most; pods >= 0; --pods) {
      PackedCost& from = best[static_cast<std::size_t>(pods)];
      if (from == kImpossible) continue;
      const PackedCost before = from;
      if (must) from = kImpossible;
      if (!must && !useful(i + 1, pods, largest)) {
        from = kImpossible;
        continue;
      }
      for (const Step& step : steps) {
        if (step.pods == 0) continue;
        const int with = std::min(most, pods + step.pods);
        if (with == pods && !must) break;
        PackedCost& to = best[static_cast<std::size_t>(with)];
        const PackedCost cost = before + step.cost;
        if (!(to < cost)) {
          to = cost;
          if (!origin.empty()) origin[i][static_cast<std::size_t>(with)] = {pods, step.pods};
        }
        if (with == most) break;
      }
    }
  }
};

FewestDomains::Items FewestDomains::items(const Domain& domain, int least, int most) {
  Items out;
  out.least = least;
  out.field = static_cast<std::size_t>(domain.level) + 1;
  std::vector<std::int64_t> rooms;
  for (const DomainId child : domain.children) {
    out.counted = out.counted && room_.existing(child) == 0;
    rooms.push_back(std::min(most, room_.of(child)));
  }
  std::sort(rooms.begin(), rooms.end(), std::greater<>());
  // The fewest children that hold `most`. No answer uses more of them, so each one that it uses
  // holds at least what the largest others leave.
  std::int64_t held = 0;
  while (out.fewest < rooms.size() && held < most) held += rooms[out.fewest++];
  const std::int64_t all_but_one =
      out.fewest == 0 ? 0
                      : std::accumulate(rooms.begin(),
                                        rooms.begin() + static_cast<std::ptrdiff_t>(out.fewest) - 1,
                                        std::int64_t{0});
  for (const DomainId child : domain.children) {
    const int room = std::min(most, room_.of(child));
    if (room == 0 && room_.base(child) == 0) continue;
    const auto lowest =
        out.counted ? static_cast<int>(std::max<std::int64_t>(0, least - all_but_one)) : 0;
    if (room < lowest) continue;
    Item item;
    item.domain = child;
    item.steps = staircase(child, lowest, room);
    std::erase_if(item.steps,
                  [&](const Step& step) { return step.pods > 0 && step.pods < lowest; });
    if (item.steps.back().pods > 0) out.list.push_back(std::move(item));
  }
  return out;
}

FewestDomains::Staircase FewestDomains::staircase(DomainId id, int least, int most) {
  const Domain& domain = fabric_.domain(id);
  const int base = room_.base(id);
  const int top = room_.at_most(id, most);
  Staircase inner;
  if (is_leaf(domain)) {
    inner = count_nodes_ || room_.existing(id) > 0 ? of_leaf(domain, top)
                                                   : Staircase{{0, {}}, {top, {}}};
  } else {
    const Items children = items(domain, std::max(least, base), top);
    Fold fold(children, layout_, top, false);
    fold.run();
    inner = fold.steps();
  }
  Staircase steps;
  const PackedCost mine = own(id);
  for (const Step& step : inner) {
    const int pods = room_.at_most(id, step.pods);
    if (step.pods < base || pods > step.pods) continue;
    const Step whole{pods, pods == 0 ? step.cost : step.cost + mine};
    if (!steps.empty() && steps.back().pods == whole.pods) continue;
    steps.push_back(whole);
  }
  if (base == 0 && (steps.empty() || steps.front().pods > 0)) steps.insert(steps.begin(), Step{});
  return steps;
}

// Counts only: at the level below as many children as the largest would do, from there on not
// fewer, and nodes as if they stood side by side.
PackedCost FewestDomains::bound(DomainId id, int pods) const {
  const Domain& domain = fabric_.domain(id);
  PackedCost least = own(id);
  if (room_.existing(id) > 0 || pods == 0) return least;
  std::vector<int> rooms;
  for (const DomainId child : domain.children) rooms.push_back(room_.of(child));
  std::sort(rooms.begin(), rooms.end(), std::greater<>());
  int children = 0;
  for (int held = 0; children < static_cast<int>(rooms.size()) && held < pods;)
    held += rooms[static_cast<std::size_t>(children++)];
  const int nodes = std::max(children, room_.fewest_nodes(id, pods));
  const auto times = [](PackedCost each, int count) {
    PackedCost sum;
    for (int i = 0; i < count; ++i) sum = sum + each;
    return sum;
  };
  const auto levels = static_cast<int>(fabric_.levels());
  for (int level = domain.level + 1; level < levels; ++level) {
    const bool as_nodes = level == levels - 1 && room_.one_node_each();
    least =
        least + times(layout_.one(static_cast<std::size_t>(level), 0), as_nodes ? nodes : children);
  }
  if (count_nodes_) least = least + times(layout_.one(fabric_.levels(), 0), nodes);
  return least;
}

std::pair<DomainId, PackedCost> FewestDomains::best_child(const Domain& domain, int pods) {
  std::vector<std::pair<PackedCost, DomainId>> candidates;
  bool pinned = false;
  for (const DomainId child : domain.children) {
    pinned = pinned || room_.existing(child) > 0;
    if (room_.at_most(child, pods) == pods) candidates.emplace_back(bound(child, pods), child);
  }
  if (pinned) return {kNowhere, kImpossible};
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::pair<DomainId, PackedCost> best{kNowhere, kImpossible};
  std::size_t position = 0;
  for (const auto& [least, child] : candidates) {
    if (best.second < least) break;
    const PackedCost found = cost(child, pods);
    const auto at = static_cast<std::size_t>(
        std::find(domain.children.begin(), domain.children.end(), child) - domain.children.begin());
    if (best.first == kNowhere || found < best.second || (found == best.second && at < position)) {
      best = {child, found};
      position = at;
    }
  }
  return best;
}

PackedCost FewestDomains::cost(DomainId domain, int pods) {
  if (!is_leaf(fabric_.domain(domain)) && room_.base(domain) == 0 && pods > 0) {
    const auto [child, found] = best_child(fabric_.domain(domain), pods);
    if (child != kNowhere) return found + own(domain);
  }
  const Staircase steps = staircase(domain, pods, pods);
  for (const Step& step : steps) {
    if (step.pods >= pods) return step.cost;
  }
  return kImpossible;
}

std::vector<Share> FewestDomains::place(DomainId domain, int pods) {
  std::vector<Share> out;
  descend(domain, pods, out);
  return out;
}

// What the cheapest way takes of each item; together it may be more than `pods`.
std::vector<int> FewestDomains::shares_of(const Fold& fold, const Items& items, int pods) {
  std::vector<int> shares(items.list.size(), 0);
  int at = fold.cheapest(pods);
  for (std::size_t i = 0; i < shares.size() && at >= 0; ++i) {
    const Fold::Origin& origin = fold.origin[i][static_cast<std::size_t>(at)];
    if (origin.before < 0) continue;
    shares[i] = origin.taken;
    at = origin.before;
  }
  return shares;
}

// The same fold again, this time with what came from whom. The set may hold more than is asked for:
// the last ones get less.
void FewestDomains::descend(DomainId id, int pods, std::vector<Share>& out) {
  const Domain& domain = fabric_.domain(id);
  if (pods == 0) return;
  if (is_leaf(domain)) return share_among_nodes(domain, pods, out);
  if (room_.base(id) == 0) {
    if (const DomainId child = best_child(domain, pods).first; child != kNowhere)
      return descend(child, pods, out);
  }
  const Items children = items(domain, pods, pods);
  Fold fold(children, layout_, pods, true);
  fold.run();
  std::vector<int> shares = shares_of(fold, children, pods);
  const int step = room_.step(domain.level + 1);
  std::int64_t over = std::accumulate(shares.begin(), shares.end(), std::int64_t{0}) - pods;
  for (std::size_t i = shares.size(); over > 0 && i-- > 0;) {
    const int least = room_.base(children.list[i].domain);
    const int spare = (shares[i] - least) / step * step;
    const auto less = std::min(over, std::int64_t{spare});
    shares[i] -= static_cast<int>(less);
    over -= less;
  }
  for (std::size_t i = 0; i < shares.size(); ++i) descend(children.list[i].domain, shares[i], out);
}

// Nodes by kind as of_leaf() took them, within a kind in natural order.
void FewestDomains::share_among_nodes(const Domain& domain, int pods, std::vector<Share>& out) {
  Items nodes;
  nodes.counted = false;
  for (const FabricNodeId node : domain.nodes) {
    const int room = room_.of_node(node);
    if (room == 0) continue;
    const PackedCost each =
        room_.existing_on(node) > 0
            ? PackedCost{}
            : layout_.one(fabric_.levels(), static_cast<std::uint64_t>(fabric_.node(node).free));
    nodes.list.push_back({node, {{0, {}}, {std::min(room, pods), each}}});
  }
  Fold fold(nodes, layout_, pods, true);
  fold.run();
  int rest = pods;
  const std::vector<int> shares = shares_of(fold, nodes, pods);
  for (std::size_t i = 0; i < shares.size() && rest > 0; ++i) {
    const int share = std::min(rest, shares[i]);
    rest -= share;
    if (share > 0) out.emplace_back(nodes.list[i].domain, share);
  }
}

}  // namespace chipweave::solver
