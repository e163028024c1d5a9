#include "common/solver/gang/mixed/exact_sets.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>

#include "common/solver/gang/mixed/set_states.hpp"
#include "common/solver/gang/spare_nodes.hpp"
#include "common/solver/gang/uniform/uniform_pods.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::kNoLevel;

// A step combines two states, some tens of nanoseconds. Small fabrics get more of them.
constexpr std::size_t kMaxStates = 20'000;
constexpr std::uint64_t kMaxSteps = 6'000'000;
constexpr std::uint64_t kMaxStepsOfSmallFabric = 24'000'000;

using Mask = GroupMask;

class SetsSearch {
 public:
  SetsSearch(const Fabric& fabric, const Gang& gang, const PodGroups& groups,
             const std::optional<domain::Spare>& spare)
      : fabric_(fabric),
        gang_(gang),
        groups_(groups),
        spare_(spare ? std::optional<SpareNodes>(std::in_place, fabric, *spare) : std::nullopt),
        levels_(fabric.levels()),
        first_(gang.policy == domain::GangPolicy::even ? kEvenFields : 0),
        width_(first_ + (levels_ + 1) * 3 + levels_),
        states_(groups, most_whole()),
        size_(states_.size(kMaxStates)) {
    if (first_ > 0) find_even_groups();
  }

  std::optional<SetsPlacement> run() {
    if (groups_.groups.size() > SetStates::kMaxGroups || size_ > kMaxStates ||
        !likely_within_budget())
      return std::nullopt;
    states_.describe(size_);
    forbid();
    mark_existing();
    std::optional<SetsPlacement> found = search();
    if (!found || !found->fits || !spread_inside(*found)) return found;
    return search();
  }

 private:
  using Cost = std::vector<std::int32_t>;
  // How a state of a domain was reached: the state of the members before, and that of this one.
  struct Origin {
    State state = kNoState;
    State before = kNoState;
    State member = kNoState;
  };
  struct Entry {
    State state;
    Cost cost;
  };
  // The reachable states of a domain. Members that can take no pods are left out, and origins are
  // those of reached states only: memory is paid for by steps.
  struct Table {
    std::vector<Entry> entries;
    std::vector<std::vector<Origin>> origins;  // by member, ascending by state
    std::vector<std::uint32_t> members;        // domains or nodes
    bool of_nodes = false;
    std::vector<State> inside;  // by state: the state before the spare count was reset
  };

  // Sets that get even shares, at a level (levels_: nodes).
  struct EvenGroup {
    std::size_t group;
    std::size_t level;
    bool inside = false;  // one domain of it is enough: even over its children
  };
  static constexpr std::size_t kEvenFields = 3;

  std::optional<SetsPlacement> search() {
    tables_.clear();
    const Table root = solve(kRootDomain);
    if (over_budget_) return std::nullopt;
    return answer(root);
  }

  void find_even_groups() {
    const auto level_of = [this](int own) {
      const int level = own == kNoLevel ? gang_.preferred_level : own;
      return level == kNoLevel ? levels_ : static_cast<std::size_t>(level);
    };
    if (gang_.sets.empty()) even_.push_back({0, level_of(kNoLevel)});
    for (std::size_t set = 0; set < gang_.sets.size(); ++set)
      if (gang_.sets[set].pods > 0 && gang_.sets[set].together.empty())
        even_.push_back({set + 1, level_of(gang_.sets[set].preferred_level)});
    // Roles that are planned together have shares together.
    for (std::size_t g = gang_.sets.size() + 1; g < groups_.groups.size(); ++g)
      even_.push_back({g, level_of(groups_.groups[g].preferred_level)});
  }
  // Marks the sets for which one domain is enough; returns whether any of them has children.
  bool spread_inside(const SetsPlacement& found) {
    bool any = false;
    for (EvenGroup& even : even_) {
      if (even.level == levels_) continue;
      std::optional<DomainId> in;
      bool one = true;
      for (const KindShare& share : found.shares) {
        const std::vector<std::size_t>& kinds = groups_.groups[even.group].kinds;
        if (std::find(kinds.begin(), kinds.end(), share.kind) == kinds.end()) continue;
        const DomainId at = fabric_.domain_of(share.node, static_cast<int>(even.level));
        one = one && (!in || *in == at);
        in = at;
      }
      even.inside = one && in.has_value();
      any = any || even.inside;
    }
    return any;
  }
  void even_costs(Cost& cost, std::size_t level, State state) const {
    for (const EvenGroup& even : even_) {
      const bool here = even.level == level;
      const bool part = even.inside && even.level + 1 == level;
      if (!here && !part) continue;
      const std::int32_t pods = states_.pods(state, groups_.groups[even.group]);
      if (pods == 0) continue;
      if (here) ++cost[0];
      cost[here ? 1 : 2] += pods * pods;
    }
  }

  std::uint64_t budget() const {
    return fabric_.size() <= kSmallFabric ? kMaxStepsOfSmallFabric : kMaxSteps;
  }
  // An estimate: each node combines its states with all states before it, most of which the first
  // nodes do not reach yet.
  bool likely_within_budget() const {
    constexpr double kOptimism = 8;
    double steps = 0;
    for (FabricNodeId id = 0; id < fabric_.node_numbers(); ++id) {
      const FabricNode& node = fabric_.node(id);
      if (!node.in_use || !node.healthy) continue;
      double own = 1;
      for (const KindOfPods& kind : groups_.kinds) {
        const auto all = static_cast<int>(kind.pods.size());
        const int room = kind.chips == 0 ? all : std::min(all, node.free / kind.chips);
        own *= std::min(room, node.max_pods) + 1;
      }
      steps += std::min(own, static_cast<double>(size_)) * static_cast<double>(size_);
    }
    return steps <= kOptimism * static_cast<double>(budget());
  }
  // The most whole nodes of a domain of the spare level; -1: none are to be left.
  int most_whole() const {
    if (!spare_) return -1;
    int most = 0;
    for (const DomainId domain : fabric_.domains_of_level(kRootDomain, spare_->level()))
      most = std::max(most, static_cast<int>(spare_->whole_below(domain).size()));
    return most;
  }
  void forbid() {
    forbidden_.assign(levels_ + 1, 0);
    for (std::size_t g = 0; g < groups_.groups.size(); ++g) {
      for (int level = 0; level <= groups_.groups[g].required_level; ++level)
        forbidden_[static_cast<std::size_t>(level)] |= Mask{1} << g;
    }
  }
  void mark_existing() {
    running_.assign(fabric_.domain_numbers(), {});
    existing_.assign(fabric_.domain_numbers(), 0);
    for (std::size_t g = 0; g < groups_.groups.size(); ++g) {
      for (const auto& [node, pods] : groups_.groups[g].existing) {
        if (pods == 0) continue;
        on_node_[node] |= Mask{1} << g;
        for (DomainId at = fabric_.node(node).domain; at != kNowhere; at = fabric_.parent(at)) {
          existing_[at] |= Mask{1} << g;
          running_[at].resize(groups_.groups.size(), 0);
          running_[at][g] += pods;
        }
      }
    }
  }
  int running(DomainId domain, std::size_t group) const {
    return running_[domain].empty() ? 0 : running_[domain][group];
  }

  // Whether the contents of one member are compatible with those of the others.
  bool together(State a, Mask existing_a, State b, Mask existing_b, int level) const {
    const Mask both = (states_.groups(a) | existing_a) & (states_.groups(b) | existing_b);
    const Mask fresh = states_.groups(a) | states_.groups(b);
    return (both & fresh & forbidden_[static_cast<std::size_t>(level)]) == 0;
  }
  // Adds members one after another and keeps the best placement of each reachable state.
  class Merge {
   public:
    explicit Merge(SetsSearch& search) : search_(search), slot_(search.size_, kNoState) {
      entries_.push_back({0, Cost(search.width_, 0)});
    }
    // level: that of the members; levels() for nodes, which are not domains.
    void add(std::uint32_t id, const std::vector<Entry>& member, Mask existing, int level,
             Table& table) {
      // With that member the states are what they are without it.
      if (existing == 0 && member.size() == 1 && member.front().state == 0) return;
      std::vector<Entry> next;
      std::vector<Origin> origins;
      std::fill(slot_.begin(), slot_.end(), kNoState);
      Cost cost(search_.width_, 0);
      for (const Entry& a : entries_) {
        for (const Entry& b : member) {
          if (++search_.steps_ > search_.budget()) search_.over_budget_ = true;
          if (search_.over_budget_) return;
          const State to = search_.states_.sum(a.state, b.state);
          if (to == kNoState) continue;
          if (level < static_cast<int>(search_.levels_) &&
              !search_.together(a.state, existing_, b.state, existing, level))
            continue;
          for (std::size_t i = 0; i < cost.size(); ++i) cost[i] = a.cost[i] + b.cost[i];
          State& at = slot_[to];
          if (at == kNoState) {
            at = static_cast<State>(next.size());
            next.push_back({to, cost});
            origins.emplace_back();
          } else if (cost < next[at].cost ||
                     (cost == next[at].cost &&
                      search_.states_.pods(b.state) < search_.states_.pods(origins[at].member))) {
            next[at].cost = cost;  // of equal ways the one with more in earlier members
          } else {
            continue;
          }
          origins[at] = {to, a.state, b.state};
        }
      }
      std::sort(origins.begin(), origins.end(),
                [](const Origin& a, const Origin& b) { return a.state < b.state; });
      // Filling the scratch table and keeping the member.
      search_.steps_ += search_.size_ / 16 + 1;
      existing_ |= existing;
      entries_ = std::move(next);
      table.origins.push_back(std::move(origins));
      table.members.push_back(id);
    }
    std::vector<Entry> take() { return std::move(entries_); }

   private:
    SetsSearch& search_;
    std::vector<Entry> entries_;
    std::vector<State> slot_;
    Mask existing_ = 0;
  };

  void fill_node(FabricNodeId id, std::size_t kind, State state, int free, int pods,
                 std::vector<Entry>& out) const {
    if (kind == groups_.kinds.size()) {
      if (state == 0) return;
      const FabricNode& node = fabric_.node(id);
      Entry entry{spare_ && spare_->whole(id) ? states_.with_whole_nodes(state, 1) : state,
                  Cost(width_, 0)};
      const auto at = on_node_.find(id);
      const Mask existing = at == on_node_.end() ? 0 : at->second;
      use(entry.cost, levels_, states_.groups(state), existing, node.free);
      even_costs(entry.cost, levels_, state);
      out.push_back(std::move(entry));
      return;
    }
    const KindOfPods& of = groups_.kinds[kind];
    const bool may =
        of.allowed == nullptr || std::binary_search(of.allowed->begin(), of.allowed->end(), id);
    for (int n = 0; n <= states_.most(kind); ++n) {
      if (n > 0 && (!may || n > pods || std::int64_t{n} * of.chips > free)) break;
      fill_node(id, kind + 1, states_.with(state, kind, n), free - n * of.chips,
                pods == kUnlimitedPods ? kUnlimitedPods : pods - n, out);
    }
  }
  // Adds the cost of the groups using one more domain of the level (levels_: node).
  void use(Cost& cost, std::size_t level, Mask present, Mask existing, int free) const {
    if (present == 0) return;
    const std::size_t counts = first_;
    const std::size_t preferred = counts + levels_ + 1;
    const std::size_t own = preferred + levels_;
    const std::size_t tight = own + levels_ + 1;
    if ((existing & 1U) == 0) {
      ++cost[counts + level];
      cost[tight + level] += free;
    }
    for (std::size_t g = 1; g < groups_.groups.size(); ++g) {
      if ((present >> g & 1U) == 0 || (existing >> g & 1U) != 0) continue;
      if (static_cast<int>(level) <= groups_.groups[g].preferred_level) ++cost[preferred + level];
      ++cost[own + level];
    }
  }

  std::vector<Entry> node_states(FabricNodeId id) const {
    const FabricNode& node = fabric_.node(id);
    std::vector<Entry> out{{0, Cost(width_, 0)}};
    if (node.healthy) fill_node(id, 0, 0, node.free, node.max_pods, out);
    return out;
  }

  std::int64_t free_below(DomainId domain) const {
    std::int64_t sum = 0;
    for (const FabricNodeId node : fabric_.nodes(domain))
      if (fabric_.node(node).healthy) sum += fabric_.node(node).free;
    for (const DomainId child : fabric_.children(domain)) sum += free_below(child);
    return sum;
  }

  Table solve(DomainId domain) {
    Table table;
    Merge merge(*this);
    const int level = fabric_.level(domain);
    if (level + 1 == static_cast<int>(levels_)) {
      table.of_nodes = true;
      for (const FabricNodeId node : fabric_.nodes(domain)) {
        if (over_budget_) return table;
        merge.add(node, node_states(node), 0, static_cast<int>(levels_), table);
      }
    }
    for (const DomainId child : fabric_.children(domain)) {
      if (over_budget_) return table;
      Table below = solve(child);
      merge.add(child, below.entries, existing_[child], level + 1, table);
      if (!table.members.empty() && table.members.back() == child)
        tables_.emplace(child, std::move(below));
    }
    table.entries = merge.take();
    close(domain, table);
    return table;
  }

  // Keeps the states with whole slices and enough spare nodes, and adds the cost of the domain.
  void close(DomainId domain, Table& table) {
    const int level = fabric_.level(domain);
    if (level < 0) return;
    const bool spare_level = spare_ && spare_->level() == level;
    const int there = spare_level ? static_cast<int>(spare_->whole_below(domain).size()) : 0;
    const auto free = static_cast<int>(
        std::min<std::int64_t>(free_below(domain), std::numeric_limits<int>::max() / 64));
    std::vector<Entry> kept;
    if (spare_level) table.inside.assign(size_, kNoState);
    for (Entry& entry : table.entries) {
      if (!slices_whole(domain, entry.state)) continue;
      if (spare_level) {
        const int used = states_.whole_nodes(entry.state);
        if (states_.pods(entry.state) > 0 && there - used < spare_->wanted()) continue;
        const State put_back = states_.without_whole_nodes(entry.state);
        const auto same = std::find_if(kept.begin(), kept.end(),
                                       [&](const Entry& e) { return e.state == put_back; });
        if (same != kept.end() && !(entry.cost < same->cost)) continue;
        table.inside[put_back] = entry.state;
        if (same != kept.end()) {
          same->cost = entry.cost;
          continue;
        }
        entry.state = put_back;
      }
      kept.push_back(std::move(entry));
    }
    for (Entry& entry : kept) {
      use(entry.cost, static_cast<std::size_t>(level), states_.groups(entry.state),
          existing_[domain], free);
      even_costs(entry.cost, static_cast<std::size_t>(level), entry.state);
    }
    table.entries = std::move(kept);
  }
  bool slices_whole(DomainId domain, State state) const {
    for (std::size_t g = 0; g < groups_.groups.size(); ++g) {
      const PodGroup& group = groups_.groups[g];
      for (const domain::Slice& slice : group.slices) {
        if (slice.level != fabric_.level(domain)) continue;
        if ((running(domain, g) + states_.pods(state, group)) % slice.size != 0) return false;
      }
    }
    return true;
  }

  SetsPlacement answer(const Table& root) {
    SetsPlacement out;
    const Entry* best = nullptr;
    std::pair<bool, int> nearest{false, -1};  // prefer reasons of states whose subgroups can start
    for (const Entry& entry : root.entries) {
      const int pods = states_.pods(entry.state);
      const MissingMembers missing =
          missing_members(gang_, states_.by_set(entry.state, gang_.sets.size()), pods);
      if (missing.any()) {
        const std::pair<bool, int> near{missing.all_start, pods};
        if (near > nearest) {
          nearest = near;
          out.reason = missing.why;
        }
        continue;
      }
      if (best == nullptr || pods > states_.pods(best->state) ||
          (pods == states_.pods(best->state) && entry.cost < best->cost))
        best = &entry;
    }
    if (best == nullptr) {
      if (out.reason.empty()) out.reason = "its slices cannot be made whole";
      return out;
    }
    out.fits = true;
    out.reason.clear();
    trace(root, best->state, out.shares);
    return out;
  }
  void trace(const Table& table, State state, std::vector<KindShare>& out) const {
    if (!table.inside.empty()) state = table.inside[state];
    std::vector<State> of_member(table.members.size(), 0);
    for (std::size_t i = table.members.size(); i-- > 0;) {
      const Origin& origin =
          *std::lower_bound(table.origins[i].begin(), table.origins[i].end(), state,
                            [](const Origin& one, State wanted) { return one.state < wanted; });
      of_member[i] = origin.member;
      state = origin.before;
    }
    for (std::size_t i = 0; i < table.members.size(); ++i) {
      if (states_.pods(of_member[i]) == 0) continue;
      if (!table.of_nodes) {
        trace(tables_.at(table.members[i]), of_member[i], out);
        continue;
      }
      for (std::size_t kind = 0; kind < groups_.kinds.size(); ++kind) {
        const int pods = states_.digit(of_member[i], kind);
        if (pods > 0) out.push_back({table.members[i], kind, pods});
      }
    }
  }

  const Fabric& fabric_;
  const Gang& gang_;
  const PodGroups& groups_;
  std::optional<SpareNodes> spare_;
  std::size_t levels_;
  std::size_t first_;  // fields before those of counts
  std::size_t width_;
  SetStates states_;
  std::size_t size_;  // how many states there are
  std::vector<EvenGroup> even_;
  std::vector<Mask> forbidden_;  // by level: groups that are in one domain of it at most
  std::vector<Mask> existing_;   // by domain: groups that run there
  std::map<FabricNodeId, Mask> on_node_;
  std::vector<std::vector<int>> running_;  // by domain, then group
  std::unordered_map<DomainId, Table> tables_;
  std::uint64_t steps_ = 0;
  bool over_budget_ = false;
};

}  // namespace

std::optional<SetsPlacement> place_sets_exactly(const Fabric& fabric, const Gang& gang,
                                                const PodGroups& groups,
                                                const std::optional<domain::Spare>& spare) {
  return SetsSearch(fabric, gang, groups, spare).run();
}

}  // namespace chipweave::solver
