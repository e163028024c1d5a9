#include "common/solver/gang/mixed/set_by_set.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "common/solver/gang/mixed/node_contents.hpp"
#include "common/solver/gang/plan_numbers.hpp"
#include "common/solver/gang/uniform/uniform_pods.hpp"

namespace chipweave::solver {
namespace {

using domain::Gang;
using domain::kNoLevel;
using domain::kNoSet;

constexpr int kMaxTries = 64;

// A part of the gang that goes to one domain of its required level: a set with the sets nested in
// it, or roles that are planned together.
struct Item {
  std::vector<std::size_t> kinds;  // its own
  std::vector<Item> inside;
  int required_level = kNoLevel;
  int set = kNoSet;  // kNoSet: the gang, or roles that are planned together
  bool together = false;
  std::int64_t chips = 0;
};

class SetBySet {
 public:
  // Where a set goes that fits into no domain in use: the tightest domain, or the one with the most
  // free chips, which may hold the following sets as well.
  enum class Open { tightest, most_free };

  SetBySet(const Fabric& fabric, const Gang& gang, const PodGroups& groups,
           const NodeUsages& usages, Open open)
      : fabric_(fabric), gang_(gang), groups_(groups), open_(open), state_(fabric) {
    state_.usages = usages;
    for (const auto& [node, here] : gang.existing)
      if (here.pods > 0) state_.usages[node].already_used = true;
    free_.assign(fabric.domain_numbers(), -1);
  }

  SetsPlacement run() {
    const Item whole = gang_item();
    place_inside_one(whole, kRootDomain);
    SetsPlacement out;
    std::vector<int> by_set(gang_.sets.size(), 0);
    int placed = 0;
    for (const KindShare& share : state_.shares) {
      const int set = groups_.kinds[share.kind].set;
      if (set != kNoSet) by_set[static_cast<std::size_t>(set)] += share.pods;
      placed += share.pods;
    }
    out.reason = missing_members(gang_, by_set, placed).why;
    out.fits = out.reason.empty();
    if (!out.fits && visits_ > kMaxDomainVisits) out.reason = kTooManyVisits;
    if (out.fits) out.shares = std::move(state_.shares);
    return out;
  }

 private:
  struct State {
    explicit State(const Fabric& fabric) : contents(fabric) {}
    NodeUsages usages;
    NodeContents contents;
    std::vector<KindShare> shares;
    int placed = 0;
  };

  Item gang_item() const {
    Item whole;
    whole.required_level = gang_.required_level;
    std::map<std::string, std::size_t> together;
    std::vector<Item> of_set(gang_.sets.size());
    for (std::size_t kind = 0; kind < groups_.kinds.size(); ++kind) {
      const int set = groups_.kinds[kind].set;
      (set == kNoSet ? whole : of_set[static_cast<std::size_t>(set)]).kinds.push_back(kind);
    }
    for (std::size_t set = 0; set < of_set.size(); ++set) {
      if (gang_.sets[set].parent == kNoSet)
        add(nest(of_set, static_cast<int>(set)), set, whole, together);
    }
    sum_up(whole);
    return whole;
  }
  void add(Item item, std::size_t set, Item& whole,
           std::map<std::string, std::size_t>& together) const {
    const std::string& with = gang_.sets[set].together;
    if (with.empty()) return whole.inside.push_back(std::move(item));
    const auto [at, fresh] = together.try_emplace(with, whole.inside.size());
    if (fresh) whole.inside.emplace_back().together = true;
    Item& all = whole.inside[at->second];
    if (item.required_level != kNoLevel)
      all.required_level = all.required_level == kNoLevel
                               ? item.required_level
                               : std::min(all.required_level, item.required_level);
    all.inside.push_back(std::move(item));
  }
  Item nest(std::vector<Item>& of_set, int set) const {
    Item item = std::move(of_set[static_cast<std::size_t>(set)]);
    item.set = set;
    item.required_level = gang_.sets[static_cast<std::size_t>(set)].required_level;
    for (std::size_t inner = 0; inner < of_set.size(); ++inner)
      if (gang_.sets[inner].parent == set)
        item.inside.push_back(nest(of_set, static_cast<int>(inner)));
    return item;
  }
  // Large sets, and those confined to a finer level, are placed first.
  void sum_up(Item& item) const {
    for (const std::size_t kind : item.kinds)
      item.chips +=
          static_cast<std::int64_t>(groups_.kinds[kind].pods.size()) * groups_.kinds[kind].chips;
    for (Item& inner : item.inside) {
      sum_up(inner);
      item.chips += inner.chips;
    }
    std::stable_sort(item.inside.begin(), item.inside.end(), [](const Item& a, const Item& b) {
      return a.chips != b.chips ? a.chips > b.chips : a.required_level > b.required_level;
    });
    std::stable_sort(item.kinds.begin(), item.kinds.end(), [this](std::size_t a, std::size_t b) {
      const auto restricted = [this](std::size_t kind) {
        return groups_.kinds[kind].allowed != nullptr;
      };
      if (restricted(a) != restricted(b)) return restricted(a);
      return groups_.kinds[a].chips > groups_.kinds[b].chips;
    });
  }

  static std::size_t pods_of(const PodGroups& groups, const Item& item) {
    std::size_t sum = 0;
    for (const std::size_t kind : item.kinds) sum += groups.kinds[kind].pods.size();
    for (const Item& inner : item.inside) sum += pods_of(groups, inner);
    return sum;
  }

  std::int64_t free_of(DomainId domain) {
    std::int64_t& sum = free_[domain];
    if (sum >= 0) return sum;
    sum = 0;
    for (const FabricNodeId node : fabric_.nodes(domain))
      if (fabric_.node(node).healthy) sum += fabric_.node(node).free;
    for (const DomainId child : fabric_.children(domain)) free_[domain] += free_of(child);
    return free_[domain];
  }

  // The domains of its required level: those with enough chips first, tightest first. If pods of
  // the set run already, only theirs.
  std::vector<DomainId> domains_for(const Item& item, DomainId region) {
    std::vector<DomainId> all = fabric_.domains_of_level(region, item.required_level);
    if (const auto pinned = pin(item)) {
      const bool there = std::find(all.begin(), all.end(), *pinned) != all.end();
      return there ? std::vector<DomainId>{*pinned} : std::vector<DomainId>{};
    }
    std::stable_sort(all.begin(), all.end(), [&](DomainId a, DomainId b) {
      const bool enough_a = free_of(a) >= item.chips;
      const bool enough_b = free_of(b) >= item.chips;
      if (enough_a != enough_b) return enough_a;
      return enough_a ? free_of(a) < free_of(b) : free_of(a) > free_of(b);
    });
    return all;
  }
  // The domain where its pods run; kNowhere: several.
  std::optional<DomainId> pin(const Item& item) const {
    if (item.required_level == kNoLevel) return std::nullopt;
    std::optional<DomainId> at;
    const auto see = [&](FabricNodeId node) {
      const DomainId here = fabric_.domain_of(node, item.required_level);
      at = at && *at != here ? kNowhere : here;
    };
    if (item.set == kNoSet) {
      if (item.together) return std::nullopt;
      for (const auto& [node, here] : gang_.existing)
        if (here.pods > 0) see(node);
      return at;
    }
    const PodGroup& group = groups_.groups[static_cast<std::size_t>(item.set) + 1];
    for (const auto& [node, pods] : group.existing)
      if (pods > 0) see(node);
    return at;
  }

  // Returns the pods placed.
  int place_inside_one(const Item& item, DomainId region) {
    const std::vector<DomainId> domains = domains_for(item, region);
    const auto wanted = static_cast<int>(pods_of(groups_, item));
    if (wanted == 0) return 0;
    if (item.inside.empty() && item.kinds.size() == 1 &&
        groups_.kinds[item.kinds.front()].allowed == nullptr)
      return place_kind(item, item.kinds.front(), domains);
    const int before = state_.placed;
    State start = state_;
    std::optional<State> best;
    for (const DomainId domain : domains) {
      if (best && ++tries_ > kMaxTries) break;
      state_ = start;
      for (const std::size_t kind : item.kinds) place_kind(item, kind, {domain});
      for (const Item& inner : item.inside) place_inside_one(inner, domain);
      if (!starts(item, before)) continue;
      if (!best || state_.placed > best->placed) best = state_;
      if (state_.placed - before == wanted) break;
    }
    state_ = best ? std::move(*best) : std::move(start);
    return state_.placed - before;
  }
  // Whether a subgroup has its minimum; roles that are planned together need all pods.
  bool starts(const Item& item, int before) const {
    const int placed = state_.placed - before;
    if (item.set == kNoSet)
      return !item.together || placed == static_cast<int>(pods_of(groups_, item));
    if (placed == 0) return true;
    const domain::PodSet& set = gang_.sets[static_cast<std::size_t>(item.set)];
    int own = 0;
    for (const auto& [node, pods] : set.existing) own += pods;
    int all = placed;
    for (const auto& [node, pods] : groups_.groups[static_cast<std::size_t>(item.set) + 1].existing)
      all += pods;
    for (const KindShare& share : state_.shares)
      if (groups_.kinds[share.kind].set == item.set) own += share.pods;
    return own >= set.own_min && all >= set.min_member;
  }

  int place_kind(const Item& item, std::size_t kind, const std::vector<DomainId>& domains) {
    const KindOfPods& of = groups_.kinds[kind];
    visits_ += fabric_.domain_numbers() + state_.usages.size();
    if (visits_ > kMaxDomainVisits) return 0;
    if (of.allowed != nullptr) return place_on_named(kind, domains);
    UniformRequest request;
    request.kind.pods = static_cast<int>(of.pods.size());
    request.kind.chips = of.chips;
    request.kind.slices.assign(fabric_.levels(), 1);
    const bool gangs_slices = item.set == kNoSet || !gang_.roles;
    for (const domain::Slice& slice :
         gangs_slices ? gang_.slices : gang_.sets[static_cast<std::size_t>(item.set)].slices)
      request.kind.slices[static_cast<std::size_t>(slice.level)] = slice.size;
    request.candidates = domains;
    request.policy = gang_.policy;
    request.preferred_level = item.set == kNoSet
                                  ? gang_.preferred_level
                                  : gang_.sets[static_cast<std::size_t>(item.set)].preferred_level;
    if (request.preferred_level == kNoLevel) request.preferred_level = gang_.preferred_level;
    if (item.set != kNoSet && item.kinds.size() == 1 && item.inside.empty()) {
      const domain::PodSet& set = gang_.sets[static_cast<std::size_t>(item.set)];
      request.at_least = set.own_min;
      for (const auto& [node, pods] : set.existing) request.at_least -= pods;
      request.at_least = std::max(1, request.at_least);
    }
    state_.contents.limit(state_.usages, of.chips);
    UniformPlacement placed;
    if (open_ == Open::most_free && domains.size() > 1) placed = place_most_free(request, domains);
    if (placed.placed < request.kind.pods) {
      request.candidates = domains;
      placed = place_uniform(fabric_, state_.usages, request);
    }
    for (const auto& [node, pods] : placed.shares) put(node, kind, pods);
    return placed.placed;
  }
  // In a domain in use, else in the domain with the most free chips, preferring those below domains
  // in use.
  UniformPlacement place_most_free(UniformRequest& request, const std::vector<DomainId>& domains) {
    std::set<DomainId> used;
    for (const auto& [node, usage] : state_.usages) {
      if (!usage.already_used) continue;
      for (DomainId at = fabric_.node(node).domain; at != kNowhere; at = fabric_.parent(at))
        used.insert(at);
    }
    request.candidates.clear();
    for (const DomainId domain : domains)
      if (used.contains(domain)) request.candidates.push_back(domain);
    UniformPlacement placed;
    if (!request.candidates.empty()) placed = place_uniform(fabric_, state_.usages, request);
    if (placed.placed == request.kind.pods) return placed;
    const auto above = [&](DomainId domain) {
      int count = 0;
      for (DomainId at = domain; at != kNowhere; at = fabric_.parent(at))
        count += used.contains(at) ? 1 : 0;
      return count;
    };
    const auto best = std::max_element(domains.begin(), domains.end(), [&](DomainId a, DomainId b) {
      if (used.contains(a) != used.contains(b)) return used.contains(a);
      return above(a) != above(b) ? above(a) < above(b) : free_of(a) < free_of(b);
    });
    request.candidates = {*best};
    return place_uniform(fabric_, state_.usages, request);
  }
  // Pods with chosen nodes: nodes in use first, then in the given order.
  int place_on_named(std::size_t kind, const std::vector<DomainId>& domains) {
    const KindOfPods& of = groups_.kinds[kind];
    int rest = static_cast<int>(of.pods.size());
    for (const DomainId domain : domains) {
      std::vector<FabricNodeId> nodes;
      for (const FabricNodeId node : *of.allowed)
        if (domain == kRootDomain || fabric_.domain_of(node, fabric_.level(domain)) == domain)
          nodes.push_back(node);
      std::stable_sort(nodes.begin(), nodes.end(), [this](FabricNodeId a, FabricNodeId b) {
        return state_.usages[a].already_used && !state_.usages[b].already_used;
      });
      for (const FabricNodeId id : nodes) {
        const FabricNode& node = fabric_.node(id);
        const NodeUsage& usage = state_.usages[id];
        if (!node.healthy || usage.excluded) continue;
        const int by_chips = of.chips == 0 ? rest : (node.free - usage.used_chips) / of.chips;
        const int by_pods =
            node.max_pods == kUnlimitedPods ? rest : std::max(0, node.max_pods - usage.used_pods);
        int here = std::min({rest, by_chips, by_pods});
        if (here > 0) here = state_.contents.most(id, of.chips, here);
        if (here <= 0) continue;
        put(id, kind, here);
        rest -= here;
        if (rest == 0) break;
      }
      if (rest < static_cast<int>(of.pods.size())) break;
    }
    return static_cast<int>(of.pods.size()) - rest;
  }
  void put(FabricNodeId node, std::size_t kind, int pods) {
    NodeUsage& usage = state_.usages[node];
    usage.already_used = true;
    usage.used_chips += pods * groups_.kinds[kind].chips;
    usage.used_pods += pods;
    state_.contents.put(node, groups_.kinds[kind].chips, pods);
    state_.shares.push_back({node, kind, pods});
    state_.placed += pods;
  }

  const Fabric& fabric_;
  const Gang& gang_;
  const PodGroups& groups_;
  Open open_;
  State state_;
  std::vector<std::int64_t> free_;  // by domain; -1: not summed up yet
  int tries_ = 0;
  std::uint64_t visits_ = 0;  // of domains
};

}  // namespace

SetsPlacement place_set_by_set(const Fabric& fabric, const Gang& gang, const PodGroups& groups,
                               const NodeUsages& usages) {
  SetsPlacement tight = SetBySet(fabric, gang, groups, usages, SetBySet::Open::tightest).run();
  SetsPlacement most_free = SetBySet(fabric, gang, groups, usages, SetBySet::Open::most_free).run();
  if (tight.fits != most_free.fits) return tight.fits ? tight : most_free;
  const auto value = [&](const SetsPlacement& answer) {
    std::vector<domain::PlannedPod> pods;
    int count = 0;
    for (const KindShare& share : answer.shares) {
      pods.push_back({0, share.node, 0});
      count += share.pods;
    }
    return std::pair(-count, count_domains(fabric, gang, pods));
  };
  return value(most_free) < value(tight) ? most_free : tight;
}

}  // namespace chipweave::solver
