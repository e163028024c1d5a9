// Leaf switch affinity against every choice of nodes, on random small fabrics. The oracle checks a
// placement against the rules as written in tor_affinity.hpp and shares no code with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/solver/vendor/tor_affinity.hpp"

namespace chipweave::solver {
namespace {

using domain::TorNetwork;
using domain::TorRequest;
using domain::TorSchema;
using domain::TorState;
using domain::TorUse;

constexpr int kCases = 3000;

struct Case {
  std::vector<TorLeaf> leaves;
  int pods = 0;
  TorRequest ask;

  int able(std::size_t leaf) const {
    int out = 0;
    for (const TorNode& node : leaves[leaf].nodes) out += node.able ? 1 : 0;
    return out;
  }
  std::string text() const {
    std::string out = std::to_string(pods) + " pods, schema " +
                      std::to_string(static_cast<int>(ask.schema)) + ", shared " +
                      std::to_string(ask.shared_tors) + ":";
    for (const TorLeaf& leaf : leaves) {
      out += " ";
      for (const TorNode& node : leaf.nodes) out += node.able ? '+' : '.';
      out += "/" + std::to_string(static_cast<int>(leaf.state.use)) +
             (leaf.state.healthy ? "" : "u") + (leaf.state.large_model ? "" : "n");
    }
    return out;
  }
};

Case random_case(unsigned seed, TorNetwork network, int most_leaves, int most_places) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Case out;
  const int places = most_places - below(3) + below(2);
  const int leaves = most_leaves - below(4) + below(2);
  const int ableness = 4 + below(7);
  const int in_use = below(5);  // of four leaves
  const int shared = below(4);  // of three leaves in use
  for (int i = 0; i < leaves; ++i) {
    TorLeaf& leaf = out.leaves.emplace_back();
    leaf.name = "t" + std::to_string(i);
    const int own = below(8) == 0 ? 1 + below(places) : places;
    for (int s = 0; s < own; ++s) leaf.nodes.push_back({"", below(10) < ableness});
    if (below(4) < in_use) {
      leaf.state.use = below(3) < shared ? TorUse::shared : TorUse::exclusive;
    }
    leaf.state.healthy = leaf.state.use != TorUse::shared || below(4) > 0;
    leaf.state.large_model = below(2) == 0;
  }
  out.pods = 1 + below(places * leaves);
  out.ask.network = network;
  out.ask.schema = below(2) == 0 ? TorSchema::large_model : TorSchema::normal;
  out.ask.shared_tors = 1 + below(2);
  return out;
}

// Pods under each leaf.
using Counts = std::vector<int>;

Counts counts_of(const Case& c, const TorPlan& plan) {
  Counts out(c.leaves.size(), 0);
  for (const TorPod& pod : plan.pods) ++out[pod.leaf];
  return out;
}

int used(const Counts& counts) {
  return static_cast<int>(std::count_if(counts.begin(), counts.end(), [](int n) { return n > 0; }));
}

void each_way(const Case& c, const std::function<void(const Counts&)>& visit) {
  Counts counts(c.leaves.size(), 0);
  const std::function<void(std::size_t, int)> descend = [&](std::size_t leaf, int left) {
    if (leaf == counts.size()) {
      if (left == 0) visit(counts);
      return;
    }
    for (int n = 0; n <= std::min(left, c.able(leaf)); ++n) {
      counts[leaf] = n;
      descend(leaf + 1, left - n);
    }
    counts[leaf] = 0;
  };
  descend(0, c.pods);
}

// Nodes exist, can take a pod and are used once; ranks go leaf by leaf (or row by row) and by
// slice.
void expect_sound(const Case& c, const TorPlan& plan) {
  ASSERT_EQ(plan.pods.size(), static_cast<std::size_t>(c.pods));
  std::set<std::pair<std::size_t, std::size_t>> nodes;
  for (std::size_t rank = 0; rank < plan.pods.size(); ++rank) {
    const TorPod& pod = plan.pods[rank];
    ASSERT_LT(pod.slice, c.leaves.at(pod.leaf).nodes.size());
    EXPECT_TRUE(c.leaves[pod.leaf].nodes[pod.slice].able);
    EXPECT_TRUE(nodes.insert({pod.leaf, pod.slice}).second);
    if (rank == 0) continue;
    const TorPod& before = plan.pods[rank - 1];
    EXPECT_TRUE(before.row < pod.row || (before.row == pod.row && before.slice < pod.slice));
  }
  const Counts counts = counts_of(c, plan);
  EXPECT_EQ(plan.leaves.size(), static_cast<std::size_t>(used(counts)));
  for (const TorLeafUse& use : plan.leaves) EXPECT_EQ(use.pods, counts[use.leaf]);
}

// The tightest leaf of the first kind that has a sufficient one.
std::optional<std::size_t> one_leaf(const Case& c) {
  const auto kind = [&](const TorState& s) {
    if (c.ask.network != TorNetwork::nslb_2) return 0;
    if (s.use == TorUse::exclusive) return 0;
    if (s.use == TorUse::free) return 3;
    return s.healthy ? 2 : 1;
  };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < c.leaves.size(); ++i) {
    if (c.able(i) < c.pods) continue;
    const auto value = [&](std::size_t leaf) {
      return std::pair(kind(c.leaves[leaf].state), c.able(leaf));
    };
    if (!best || value(i) < value(*best)) best = i;
  }
  return best;
}

bool is_filler(const Case& c) { return c.ask.schema == TorSchema::large_model && c.pods < 4; }

// True: whether one leaf takes all pods decides the case.
bool decided_by_one_leaf(const Case& c, const TorPlan& plan) {
  const auto one = one_leaf(c);
  if (!one && !is_filler(c)) return false;
  EXPECT_EQ(plan.fits, one.has_value());
  if (one && plan.fits) {
    EXPECT_EQ(plan.leaves.size(), 1U);
    EXPECT_EQ(plan.leaves[0].leaf, *one);
    EXPECT_EQ(plan.leaves[0].state, c.leaves[*one].state);
  }
  return true;
}

// ---- NSLB 2.0

// Whether a crossing job of the large schema may be placed this way.
bool allowed_v2(const Case& c, const Counts& counts, bool may_open) {
  int most_left = 0;  // able nodes of the largest free leaf that is not taken completely
  int smallest_taken = 1000;
  int taken = 0;
  int partly = 0;
  int shared = 0;
  int pods_on_shared = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const TorState& s = c.leaves[i].state;
    if (s.use == TorUse::free) {
      if (counts[i] == c.able(i) && counts[i] > 0) {
        ++taken;
        smallest_taken = std::min(smallest_taken, counts[i]);
      } else {
        most_left = std::max(most_left, c.able(i));
        partly += counts[i] > 0 ? 1 : 0;
      }
    } else if (counts[i] > 0) {
      if (s.use == TorUse::exclusive || !s.healthy) return false;
      ++shared;
      pods_on_shared += counts[i];
    }
  }
  if (shared > c.ask.shared_tors || partly > 1) return false;
  if (partly > 0 && (shared > 0 || !may_open)) return false;
  if (pods_on_shared > 0 && most_left > 0 && pods_on_shared >= most_left) return false;
  // largest first; one smaller leaf may be the exact rest
  const bool exact = shared == 0 && partly == 0;
  int smaller = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (c.leaves[i].state.use == TorUse::free && counts[i] > 0 && counts[i] == c.able(i))
      smaller += counts[i] < most_left ? 1 : 0;
  }
  return smaller == 0 || (exact && smaller == 1);
}

bool allowed_spill(const Case& c, const Counts& counts) {
  bool unhealthy_left = false;
  bool normal_used = false;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const TorState& s = c.leaves[i].state;
    const bool whole = counts[i] == c.able(i);
    if (s.use == TorUse::free && !whole) return false;
    if (s.use == TorUse::exclusive && counts[i] > 0) return false;
    if (s.use != TorUse::shared) continue;
    if (s.healthy && s.large_model && counts[i] > 0) return false;
    if (!s.healthy) unhealthy_left = unhealthy_left || !whole;
    if (s.healthy) normal_used = normal_used || counts[i] > 0;
  }
  return !(unhealthy_left && normal_used);
}

void check_v2(const Case& c, const TorPlan& plan) {
  if (decided_by_one_leaf(c, plan)) return;
  std::optional<std::pair<int, int>> best;  // leaves, and what could be taken below them
  const auto value = [&](const Counts& way) {
    int able = 0;
    for (std::size_t i = 0; i < way.size(); ++i) able += way[i] > 0 ? c.able(i) : 0;
    return std::pair(used(way), able);
  };
  std::function<bool(const Counts&)> allowed;
  const auto attempt = [&](std::function<bool(const Counts&)> rule) {
    if (best) return;
    allowed = std::move(rule);
    each_way(c, [&](const Counts& way) {
      if (allowed(way)) best = std::min(best.value_or(std::pair(1000, 0)), value(way));
    });
  };
  attempt([&](const Counts& way) { return allowed_v2(c, way, false); });
  attempt([&](const Counts& way) { return allowed_v2(c, way, true); });
  bool spills = false;
  if (!best && c.ask.schema == TorSchema::normal) {
    spills = true;
    attempt([&](const Counts& way) { return allowed_spill(c, way); });
  }
  ASSERT_EQ(plan.fits, best.has_value()) << plan.reason;
  if (!best) return;
  const Counts got = counts_of(c, plan);
  EXPECT_TRUE(allowed(got));
  EXPECT_EQ(used(got), best->first);
  if (!spills) {
    EXPECT_EQ(value(got).second, best->second);
  }
  for (const TorLeafUse& use : plan.leaves) {
    const bool whole_free =
        c.leaves[use.leaf].state.use == TorUse::free && use.pods == c.able(use.leaf);
    EXPECT_EQ(use.state.use, whole_free ? TorUse::exclusive : TorUse::shared);
    EXPECT_EQ(use.state.healthy, whole_free || !spills);
  }
}

TEST(TorAffinityOracle, Nslb2KeepsTheRulesOnTheFewestLeaves) {
  int fits = 0;
  int crossing = 0;
  for (unsigned seed = 0; seed < kCases; ++seed) {
    const Case c = random_case(seed, TorNetwork::nslb_2, 5, 4);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + c.text());
    const Result<TorPlan> plan = plan_tor(c.leaves, c.pods, c.ask);
    ASSERT_TRUE(plan) << plan.error().text();
    if (plan->fits) expect_sound(c, *plan);
    check_v2(c, *plan);
    fits += plan->fits ? 1 : 0;
    crossing += plan->leaves.size() > 1 ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(crossing, kCases / 10);
  EXPECT_LT(fits, kCases);
}

// ---- NSLB 1.0

struct Nodes {
  std::vector<std::pair<std::size_t, std::size_t>> all;  // leaf, slice
};

void each_set(const Case& c, const std::function<void(const Nodes&)>& visit) {
  std::vector<std::pair<std::size_t, std::size_t>> able;
  for (std::size_t i = 0; i < c.leaves.size(); ++i) {
    for (std::size_t s = 0; s < c.leaves[i].nodes.size(); ++s)
      if (c.leaves[i].nodes[s].able) able.emplace_back(i, s);
  }
  for (unsigned bits = 0; bits < (1U << able.size()); ++bits) {
    Nodes nodes;
    for (std::size_t i = 0; i < able.size(); ++i)
      if ((bits >> i & 1U) != 0) nodes.all.push_back(able[i]);
    if (nodes.all.size() == static_cast<std::size_t>(c.pods)) visit(nodes);
  }
}

struct RulesOf1 {
  const Case& c;
  std::size_t places = 0;
  std::size_t complete = 0;

  explicit RulesOf1(const Case& of) : c(of) {
    for (const TorLeaf& leaf : c.leaves) places = std::max(places, leaf.nodes.size());
    for (std::size_t i = 0; i < c.leaves.size(); ++i) complete += is_complete(i) ? 1U : 0U;
  }
  bool clean(std::size_t leaf) const { return c.leaves[leaf].state.use == TorUse::free; }
  bool is_complete(std::size_t leaf) const {
    return clean(leaf) && static_cast<std::size_t>(c.able(leaf)) == places;
  }
  bool allowed(const Nodes& nodes) const {
    const auto pods = static_cast<std::size_t>(c.pods);
    const bool only_complete = complete * places >= pods;
    std::vector<std::size_t> of_slice(places, 0);
    for (const auto& [leaf, slice] : nodes.all) {
      if (!clean(leaf) || (only_complete && !is_complete(leaf))) return false;
      ++of_slice[slice];
    }
    std::size_t deeper = 0;
    for (const std::size_t n : of_slice) {
      if (n < pods / places || n > pods / places + 1) return false;
      deeper += n > pods / places ? 1U : 0U;
    }
    return deeper == pods % places;
  }
  bool any(const Nodes& nodes) const {
    int of_clean = 0;
    for (std::size_t i = 0; i < c.leaves.size(); ++i) of_clean += clean(i) ? c.able(i) : 0;
    return of_clean < c.pods || std::all_of(nodes.all.begin(), nodes.all.end(),
                                            [&](const auto& node) { return clean(node.first); });
  }
};

// Leaves that are used, and what could be taken below them.
std::pair<int, int> value(const Case& c, const Nodes& nodes) {
  std::set<std::size_t> leaves;
  for (const auto& [leaf, slice] : nodes.all) leaves.insert(leaf);
  int able = 0;
  for (const std::size_t leaf : leaves) able += c.able(leaf);
  return {static_cast<int>(leaves.size()), able};
}

void check_v1(const Case& c, const TorPlan& plan) {
  if (decided_by_one_leaf(c, plan)) return;
  const RulesOf1 rules(c);
  std::optional<std::pair<int, int>> best;
  each_set(c, [&](const Nodes& nodes) {
    if (rules.allowed(nodes)) best = std::min(best.value_or(std::pair(1000, 0)), value(c, nodes));
  });
  const bool by_rule = best.has_value();
  if (!by_rule && c.ask.schema == TorSchema::normal) {
    each_set(c, [&](const Nodes& nodes) {
      if (rules.any(nodes)) best = std::min(best.value_or(std::pair(1000, 0)), value(c, nodes));
    });
  }
  ASSERT_EQ(plan.fits, best.has_value()) << plan.reason;
  if (!best) return;
  Nodes got;
  for (const TorPod& pod : plan.pods) got.all.emplace_back(pod.leaf, pod.slice);
  EXPECT_TRUE(by_rule ? rules.allowed(got) : rules.any(got));
  EXPECT_EQ(value(c, got).first, best->first);
  if (!by_rule) return;
  EXPECT_EQ(value(c, got).second, best->second);
  EXPECT_TRUE(plan.fewest);
  for (const TorLeafUse& use : plan.leaves) EXPECT_EQ(use.state.use, TorUse::exclusive);
  // every row but the last has all slices
  for (std::size_t rank = 0; rank < plan.pods.size(); ++rank) {
    EXPECT_EQ(plan.pods[rank].row, rank / rules.places);
    if (plan.pods[rank].row < plan.pods.back().row) {
      EXPECT_EQ(plan.pods[rank].slice, rank % rules.places);
    }
  }
}

TEST(TorAffinityOracle, Nslb1KeepsTheRulesOnTheFewestLeaves) {
  int crossing = 0;
  for (unsigned seed = 0; seed < kCases; ++seed) {
    const Case c = random_case(seed, TorNetwork::nslb_1, 4, 3);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + c.text());
    const Result<TorPlan> plan = plan_tor(c.leaves, c.pods, c.ask);
    ASSERT_TRUE(plan) << plan.error().text();
    if (plan->fits) expect_sound(c, *plan);
    check_v1(c, *plan);
    crossing += plan->leaves.size() > 1 ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(crossing, kCases / 10);
}

TEST(TorAffinityOracle, SingleLayerIsOneLeafOrNone) {
  for (unsigned seed = 0; seed < kCases; ++seed) {
    Case c = random_case(seed, TorNetwork::single_layer, 5, 4);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + c.text());
    const Result<TorPlan> plan = plan_tor(c.leaves, c.pods, c.ask);
    ASSERT_TRUE(plan) << plan.error().text();
    if (plan->fits) expect_sound(c, *plan);
    EXPECT_TRUE(decided_by_one_leaf(c, *plan) || !plan->fits);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace chipweave::solver
