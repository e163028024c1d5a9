#include "common/solver/vendor/tor_affinity.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "common/base/natural_order.hpp"
#include "common/solver/vendor/tor_slices.hpp"

namespace chipweave::solver {
namespace {

using domain::TorNetwork;
using domain::TorRequest;
using domain::TorSchema;
using domain::TorState;
using domain::TorUse;

constexpr TorState kExclusive{TorUse::exclusive};
constexpr TorState kShared{TorUse::shared};
constexpr TorState kSpilled{TorUse::shared, false};

// Pods under one leaf, and what the leaf is afterwards.
struct Take {
  std::size_t leaf = 0;
  int pods = 0;
  TorState state;
};
using Takes = std::vector<Take>;
using LeafList = std::vector<std::size_t>;

// The leaves, each with the number of nodes that can take a pod.
class Leaves {
 public:
  explicit Leaves(const std::vector<TorLeaf>& leaves) : leaves_(leaves) {
    for (const TorLeaf& leaf : leaves) {
      able_.push_back(static_cast<int>(std::count_if(
          leaf.nodes.begin(), leaf.nodes.end(), [](const TorNode& node) { return node.able; })));
    }
  }
  const TorLeaf& operator[](std::size_t leaf) const { return leaves_[leaf]; }
  std::size_t size() const { return leaves_.size(); }
  int able(std::size_t leaf) const { return able_[leaf]; }
  int able(const LeafList& list) const {
    return std::accumulate(list.begin(), list.end(), 0,
                           [this](int sum, std::size_t leaf) { return sum + able_[leaf]; });
  }

  // Leaves with capacity for which the predicate holds, fewest nodes first, then in natural order.
  template <class Predicate>
  LeafList where(const Predicate& wanted) const {
    LeafList out;
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf)
      if (able_[leaf] > 0 && wanted(leaves_[leaf])) out.push_back(leaf);
    std::sort(out.begin(), out.end(), [this](std::size_t a, std::size_t b) {
      return able_[a] != able_[b] ? able_[a] < able_[b] : before(a, b);
    });
    return out;
  }
  bool before(std::size_t a, std::size_t b) const {
    return natural_less(leaves_[a].name, leaves_[b].name);
  }
  // The first leaf of an ascending list that takes so many pods; the end of the list if none does.
  // Called with the capacity of the last leaf, it returns the largest leaf, the first in natural
  // order among equals.
  LeafList::const_iterator sufficient(const LeafList& list, int pods) const {
    return std::lower_bound(list.begin(), list.end(), pods,
                            [this](std::size_t leaf, int n) { return able_[leaf] < n; });
  }

 private:
  const std::vector<TorLeaf>& leaves_;
  std::vector<int> able_;
};

bool any_leaf(const TorLeaf& /*leaf*/) { return true; }
bool is_clean(const TorLeaf& leaf) { return leaf.state.use == TorUse::free; }
bool is_free(const TorLeaf& leaf) { return is_clean(leaf) && leaf.state.healthy; }
bool is_exclusive(const TorLeaf& leaf) {
  return leaf.state.use == TorUse::exclusive && leaf.state.healthy;
}
bool is_shared(const TorLeaf& leaf) {
  return leaf.state.use == TorUse::shared && leaf.state.healthy;
}
bool is_unhealthy(const TorLeaf& leaf) {
  return leaf.state.use == TorUse::shared && !leaf.state.healthy;
}
bool is_shared_by_normal(const TorLeaf& leaf) { return is_shared(leaf) && !leaf.state.large_model; }

// All pods under the tightest sufficient leaf of the list, whose state does not change.
std::optional<Takes> under_one(const Leaves& leaves, const LeafList& list, int pods) {
  const auto found = leaves.sufficient(list, pods);
  if (found == list.end()) return std::nullopt;
  return Takes{{*found, pods, leaves[*found].state}};
}

// Takes whole leaves of the list, largest first, until the tightest one can take the rest; `into`:
// the new state of a leaf. Returns the number of pods that were not placed.
template <class Into>
int fill(const Leaves& leaves, LeafList list, int pods, const Into& into, Takes& out) {
  while (pods > 0 && !list.empty()) {
    auto leaf = leaves.sufficient(list, pods);
    if (leaf == list.end()) leaf = leaves.sufficient(list, leaves.able(list.back()));
    Take take = into(*leaf);
    take.leaf = *leaf;
    take.pods = std::min(pods, leaves.able(*leaf));
    pods -= take.pods;
    out.push_back(take);
    list.erase(leaf);
  }
  return pods;
}

// ---- NSLB 2.0

// The two leaves of an ascending list that together take so many pods with the least left over,
// the smaller one first.
std::optional<std::pair<std::size_t, std::size_t>> closest_pair(const Leaves& leaves,
                                                                const LeafList& list, int pods) {
  std::optional<std::pair<int, int>> best;  // what the two take
  if (list.empty()) return std::nullopt;
  for (std::size_t low = 0, high = list.size() - 1; low < high;) {
    const std::pair sizes(leaves.able(list[low]), leaves.able(list[high]));
    const int sum = sizes.first + sizes.second;
    if (sum < pods) {
      ++low;
      continue;
    }
    if (!best || sum < best->first + best->second) best = sizes;
    --high;
  }
  if (!best) return std::nullopt;
  // of leaves of one size the first in natural order
  const auto first = leaves.sufficient(list, best->first);
  const auto second = leaves.sufficient(list, best->second);
  return std::pair(*first, first == second ? *std::next(first) : *second);
}

// Places the rest after whole free leaves. free: the remaining ones, ascending.
bool place_rest(const Leaves& leaves, const LeafList& free, int pods, int shared_tors,
                Takes& takes) {
  const auto tightest = leaves.sufficient(free, pods);
  if (tightest != free.end() && leaves.able(*tightest) == pods) {
    takes.push_back({*tightest, pods, kExclusive});
    return true;
  }
  const LeafList shared = leaves.where(is_shared);
  if (const auto one = leaves.sufficient(shared, pods); one != shared.end()) {
    takes.push_back({*one, pods, kShared});
    return true;
  }
  if (const auto pair = closest_pair(leaves, shared, pods); pair && shared_tors > 1) {
    const int most = leaves.able(pair->second);
    takes.push_back({pair->second, most, kShared});
    takes.push_back({pair->first, pods - most, kShared});
    return true;
  }
  if (tightest == free.end()) return false;
  takes.push_back({*tightest, pods, kShared});
  return true;
}

std::optional<Takes> crossing_v2(const Leaves& leaves, int pods, int shared_tors) {
  LeafList free = leaves.where(is_free);
  Takes out;
  while (pods > 0 && !free.empty() && leaves.able(free.back()) <= pods) {
    const auto leaf = leaves.sufficient(free, leaves.able(free.back()));
    out.push_back({*leaf, leaves.able(*leaf), kExclusive});
    pods -= leaves.able(*leaf);
    free.erase(leaf);
  }
  if (pods > 0 && !place_rest(leaves, free, pods, shared_tors, out)) return std::nullopt;
  return out;
}

// A normal job that the rules of large models do not place: all free leaves, then leaves where it
// disturbs the fewest large models.
std::optional<Takes> spilling_v2(const Leaves& leaves, int pods) {
  Takes out;
  for (const std::size_t leaf : leaves.where(is_free)) {
    out.push_back({leaf, leaves.able(leaf), kExclusive});
    pods -= leaves.able(leaf);
  }
  const auto unhealthy = [](std::size_t) { return Take{0, 0, kSpilled}; };
  pods = fill(leaves, leaves.where(is_unhealthy), pods, unhealthy, out);
  pods = fill(leaves, leaves.where(is_shared_by_normal), pods, unhealthy, out);
  if (pods > 0) return std::nullopt;
  return out;
}

// ---- Answers

void sort_for_ranks(const Leaves& leaves, Takes& takes) {
  std::sort(takes.begin(), takes.end(), [&](const Take& a, const Take& b) {
    const bool a_shared = a.state.use == TorUse::shared;
    const bool b_shared = b.state.use == TorUse::shared;
    return a_shared != b_shared ? b_shared : leaves.before(a.leaf, b.leaf);
  });
}

TorPlan plan_of(const Leaves& leaves, const Takes& takes) {
  TorPlan out;
  out.fits = true;
  for (const Take& take : takes) {
    int left = take.pods;
    const std::vector<TorNode>& nodes = leaves[take.leaf].nodes;
    for (std::size_t slice = 0; slice < nodes.size() && left > 0; ++slice) {
      if (!nodes[slice].able) continue;
      out.pods.push_back({take.leaf, slice, out.leaves.size()});
      --left;
    }
    out.leaves.push_back({take.leaf, take.state, take.pods});
  }
  return out;
}

TorPlan refused_tor(std::string reason) {
  TorPlan out;
  out.reason = std::move(reason);
  return out;
}

std::string pods_text(int pods) { return std::to_string(pods) + (pods == 1 ? " pod" : " pods"); }

std::string too_big_for_one_leaf(const Leaves& leaves, const LeafList& list, int pods) {
  const std::string why = "no leaf takes " + pods_text(pods) + ": ";
  if (list.empty()) return why + "none has a node for one";
  return why + "the most is " + std::to_string(leaves.able(list.back())) + ", under " +
         leaves[list.back()].name;
}

std::string short_of_leaves_v2(const Leaves& leaves, int pods, const TorRequest& request) {
  const LeafList shared = leaves.where(is_shared);
  int most = 0;
  int count = 0;
  for (auto leaf = shared.rbegin(); leaf != shared.rend() && count < request.shared_tors; ++leaf) {
    most += leaves.able(*leaf);
    ++count;
  }
  std::string out = pods_text(pods) + " asked; free leaves take " +
                    std::to_string(leaves.able(leaves.where(is_free))) + ", ";
  if (request.schema == TorSchema::normal)
    return out + "unhealthy shared leaves and those without a large model " +
           std::to_string(leaves.able(leaves.where(is_unhealthy)) +
                          leaves.able(leaves.where(is_shared_by_normal)));
  return out + "at most " + std::to_string(request.shared_tors) + " healthy shared leaves " +
         std::to_string(most);
}

// ---- NSLB 1.0

// Empty: there are too few complete leaves.
Takes complete_leaves(const Leaves& leaves, const LeafList& clean, int places, int pods) {
  Takes out;
  for (const std::size_t leaf : clean) {
    if (pods <= 0) break;
    if (leaves.able(leaf) != places) continue;
    out.push_back({leaf, std::min(pods, places), kExclusive});
    pods -= places;
  }
  if (pods > 0) out.clear();
  return out;
}

TorPlan logical_leaves(const Leaves& leaves, LeafList clean, int places, int pods) {
  std::sort(clean.begin(), clean.end(),
            [&](std::size_t a, std::size_t b) { return leaves.before(a, b); });
  const auto slices = static_cast<std::size_t>(places);
  std::vector<std::vector<bool>> able;
  for (const std::size_t leaf : clean) {
    std::vector<bool>& of = able.emplace_back(slices, false);
    for (std::size_t s = 0; s < leaves[leaf].nodes.size(); ++s) of[s] = leaves[leaf].nodes[s].able;
  }
  const SliceRows rows = fewest_rows(able, slices, static_cast<std::size_t>(pods));
  TorPlan out;
  out.fits = !rows.nodes.empty();
  out.fewest = rows.fewest;
  for (const SliceNode& node : rows.nodes) {
    const std::size_t leaf = clean[node.leaf];
    out.pods.push_back({leaf, node.slice, node.row});
    const auto use = std::find_if(out.leaves.begin(), out.leaves.end(),
                                  [&](const TorLeafUse& one) { return one.leaf == leaf; });
    if (use != out.leaves.end()) {
      ++use->pods;
    } else {
      out.leaves.push_back({leaf, kExclusive, 1});
    }
  }
  return out;
}

std::string short_of_rows_v1(const Leaves& leaves, const LeafList& clean, int places, int pods) {
  const auto complete = std::count_if(
      clean.begin(), clean.end(), [&](std::size_t leaf) { return leaves.able(leaf) == places; });
  return pods_text(pods) + " asked; of the leaves without a job that crosses leaves " +
         std::to_string(complete) + " are complete, " +
         std::to_string((pods + places - 1) / places) +
         " are needed, and the others do not make up logical leaves of " + std::to_string(places) +
         " slices: too few nodes of some slice";
}

TorPlan any_nodes(const Leaves& leaves, const LeafList& list, int pods, bool keeps_state) {
  Takes takes;
  const int left = fill(
      leaves, list, pods,
      [&](std::size_t leaf) {
        const TorState& before = leaves[leaf].state;
        if (keeps_state) return Take{leaf, 0, before};
        return Take{leaf, 0, before.use == TorUse::free ? kExclusive : kShared};
      },
      takes);
  if (left > 0)
    return refused_tor(pods_text(pods) + " asked, " + std::to_string(pods - left) +
                       " nodes can take one");
  sort_for_ranks(leaves, takes);
  return plan_of(leaves, takes);
}

TorPlan plan_v1(const Leaves& leaves, int pods, const TorRequest& request, int places) {
  const LeafList clean = leaves.where(is_clean);
  if (const Takes takes = complete_leaves(leaves, clean, places, pods); !takes.empty())
    return plan_of(leaves, takes);
  if (TorPlan plan = logical_leaves(leaves, clean, places, pods); plan.fits) return plan;
  if (request.schema == TorSchema::large_model)
    return refused_tor(short_of_rows_v1(leaves, clean, places, pods));
  return any_nodes(leaves, leaves.able(clean) >= pods ? clean : leaves.where(any_leaf), pods,
                   false);
}

TorPlan plan_v2(const Leaves& leaves, int pods, const TorRequest& request) {
  std::optional<Takes> takes = crossing_v2(leaves, pods, request.shared_tors);
  if (!takes && request.schema == TorSchema::normal) takes = spilling_v2(leaves, pods);
  if (!takes) return refused_tor(short_of_leaves_v2(leaves, pods, request));
  sort_for_ranks(leaves, *takes);
  return plan_of(leaves, *takes);
}

std::optional<Takes> under_one_leaf(const Leaves& leaves, int pods, TorNetwork network) {
  if (network != TorNetwork::nslb_2) return under_one(leaves, leaves.where(any_leaf), pods);
  for (const auto& kind : {is_exclusive, is_unhealthy, is_shared, is_free}) {
    if (auto takes = under_one(leaves, leaves.where(kind), pods)) return takes;
  }
  return std::nullopt;
}

// A leaf that was shared keeps its large models.
TorPlan with_models(const Leaves& leaves, TorPlan plan, TorSchema schema) {
  for (TorLeafUse& use : plan.leaves) {
    const TorState& before = leaves[use.leaf].state;
    use.state.large_model =
        schema == TorSchema::large_model || (before.use != TorUse::free && before.large_model);
  }
  return plan;
}

Result<int> places_of(const std::vector<TorLeaf>& leaves, int leaf_nodes) {
  std::set<std::string> names;
  std::size_t most = 0;
  for (const TorLeaf& leaf : leaves) {
    if (!names.insert(leaf.name).second)
      return make_error(Errc::invalid_argument, "leaf " + leaf.name + " is listed twice").in("tor");
    most = std::max(most, leaf.nodes.size());
  }
  if (leaf_nodes == 0) return static_cast<int>(most);
  if (leaf_nodes < static_cast<int>(most))
    return make_error(Errc::invalid_argument, "is " + std::to_string(leaf_nodes) + ": a leaf has " +
                                                  std::to_string(most) + " nodes")
        .in("tor.leaf_nodes");
  return leaf_nodes;
}

}  // namespace

Result<TorPlan> plan_tor(const std::vector<TorLeaf>& given, int replicas,
                         const TorRequest& request) {
  if (replicas < 1) return make_error(Errc::invalid_argument, "must be at least 1").in("pods");
  if (request.shared_tors != 1 && request.shared_tors != 2)
    return make_error(Errc::invalid_argument, "must be 1 or 2").in("tor.shared_tor_num");
  const Result<int> places = places_of(given, request.leaf_nodes);
  if (!places) return places.error();
  const Leaves leaves(given);
  const LeafList all = leaves.where(any_leaf);
  if (request.schema == TorSchema::none) return any_nodes(leaves, all, replicas, true);
  if (const auto takes = under_one_leaf(leaves, replicas, request.network))
    return plan_of(leaves, *takes);
  if (request.network == TorNetwork::single_layer)
    return refused_tor(too_big_for_one_leaf(leaves, all, replicas));
  if (request.schema == TorSchema::large_model && replicas < domain::kFillerReplicas)
    return refused_tor(too_big_for_one_leaf(leaves, all, replicas) +
                       " (fewer than 4 pods of large-model-schema stay under one leaf)");
  if (all.empty()) return refused_tor(too_big_for_one_leaf(leaves, all, replicas));
  if (request.network == TorNetwork::nslb_1)
    return with_models(leaves, plan_v1(leaves, replicas, request, *places), request.schema);
  return with_models(leaves, plan_v2(leaves, replicas, request), request.schema);
}

}  // namespace chipweave::solver
