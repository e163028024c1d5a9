// Moves that free domains against exhaustive search: on random small forests the plan is compared
// with the best of all assignments of the movable pods. The oracle knows only nodes and paths and
// shares no code with the solver.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "common/solver/gang/defrag/defrag.hpp"
#include "common/solver/gang/defrag/move_order.hpp"
#include "common/solver/gang/defrag/search/exact_moves.hpp"

namespace chipweave::solver {
namespace {

using domain::kNoLevel;

struct DefragNode {
  std::string name = {};
  std::vector<std::string> path = {};
  int free = 0;
  int max_pods = kUnlimitedPods;
  bool healthy = true;
  bool occupied = false;
  int group = 0;
};

struct DefragCase {
  int levels = 0;
  std::vector<DefragNode> nodes;
  std::vector<DefragPod> pods;  // DefragPod::node: position in nodes
  DefragTarget target;

  // The domain of a node; unknown elements are unique to the node.
  std::string domain(std::size_t node, int level) const {
    const DefragNode& n = nodes[node];
    if (level == kNoLevel) return n.name;
    std::string text;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(level); ++i) {
      if (n.path[i].empty()) return text + "|?" + n.name;
      text += "|" + n.path[i];
    }
    return text;
  }
};

// Gain, then chips and pods as negative numbers: more is better.
using Worth = std::tuple<int, int, int>;

class DefragOracle {
 public:
  explicit DefragOracle(const DefragCase& c) : case_(c) {
    for (const DefragPod& pod : c.pods) now_.push_back(pod.node);
    for (std::size_t n = 0; n < c.nodes.size(); ++n)
      domains_.push_back(c.domain(n, c.target.level));
    free_now_ = free_domains(now_);
  }
  Worth best() {
    best_ = {0, 0, 0};
    std::vector<FabricNodeId> at = now_;
    assign(at, 0);
    return best_;
  }
  int free_domains(const std::vector<FabricNodeId>& at) const {
    std::map<std::string, std::pair<bool, bool>> by_name;  // has chips, in use
    for (std::size_t n = 0; n < case_.nodes.size(); ++n) {
      const DefragNode& node = case_.nodes[n];
      if (!node.healthy) continue;
      auto& [chips, used] = by_name[domains_[n]];
      chips = chips || node.free > 0 || node.occupied;
      used = used || node.occupied;
    }
    for (std::size_t p = 0; p < at.size(); ++p) {
      if (case_.nodes[now_[p]].healthy) by_name[domains_[now_[p]]].first = true;
      if (case_.nodes[at[p]].healthy) by_name[domains_[at[p]]].second = true;
    }
    return static_cast<int>(std::count_if(by_name.begin(), by_name.end(), [](const auto& one) {
      return one.second.first && !one.second.second;
    }));
  }
  // Nothing if the assignment breaks a rule.
  std::optional<Worth> worth(const std::vector<FabricNodeId>& at) const {
    std::vector<int> free;
    std::vector<int> slots;
    for (const DefragNode& node : case_.nodes) {
      free.push_back(node.free);
      slots.push_back(std::min(node.max_pods, 100));
    }
    int chips = 0;
    int pods = 0;
    for (std::size_t p = 0; p < at.size(); ++p) {
      if (at[p] == now_[p]) continue;
      const DefragPod& pod = case_.pods[p];
      if (!pod.movable || !case_.nodes[at[p]].healthy) return std::nullopt;
      if (case_.nodes[at[p]].group != case_.nodes[now_[p]].group) return std::nullopt;
      if (pod.keep_level != kNoLevel &&
          case_.domain(at[p], pod.keep_level) != case_.domain(now_[p], pod.keep_level))
        return std::nullopt;
      free[now_[p]] += pod.released;
      ++slots[now_[p]];
      free[at[p]] -= pod.chips;
      --slots[at[p]];
      chips += pod.chips;
      ++pods;
    }
    if (pods > case_.target.max_moves) return std::nullopt;
    for (std::size_t n = 0; n < free.size(); ++n)
      if (free[n] < 0 || (slots[n] < 0 && slots[n] < case_.nodes[n].max_pods)) return std::nullopt;
    return Worth{std::min(free_domains(at) - free_now_, case_.target.domains), -chips, -pods};
  }
  const std::vector<FabricNodeId>& now() const { return now_; }

 private:
  void assign(std::vector<FabricNodeId>& at, std::size_t pod) {
    if (pod == at.size()) {
      if (const auto found = worth(at)) best_ = std::max(best_, *found);
      return;
    }
    for (FabricNodeId n = 0; n < case_.nodes.size(); ++n) {
      if (n != now_[pod] && !case_.pods[pod].movable) continue;
      at[pod] = n;
      assign(at, pod + 1);
    }
    at[pod] = now_[pod];
  }

  const DefragCase& case_;
  std::vector<FabricNodeId> now_;
  std::vector<std::string> domains_;  // of the target level, by node
  int free_now_ = 0;
  Worth best_;
};

class DefragDice {
 public:
  explicit DefragDice(unsigned seed) : random_(seed) {}
  int upto(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most + 1)); }
  bool chance(int percent) { return upto(99) < percent; }

 private:
  std::mt19937 random_;
};

DefragCase random_defrag_case(unsigned seed) {
  DefragDice dice(seed);
  DefragCase c;
  c.levels = 1 + dice.upto(2);
  const int nodes = 2 + dice.upto(4);
  const int width = 1 + dice.upto(2);
  const bool unknown = dice.chance(15);
  const bool corners = dice.chance(50);
  const int chips = 2 + dice.upto(4);
  std::vector<int> left;
  for (int i = 0; i < nodes; ++i) {
    DefragNode& node = c.nodes.emplace_back();
    node.name = "n" + std::to_string(i);
    for (int level = 0; level < c.levels; ++level) {
      node.path.push_back("d" + std::to_string(dice.upto(level == 0 ? width : 2)));
      if (unknown && dice.chance(25)) node.path.back() = "";
    }
    left.push_back(dice.chance(80) ? chips : dice.upto(5));
    if (corners && dice.chance(20)) node.max_pods = dice.upto(2);
    if (corners && dice.chance(12)) node.healthy = false;
    if (corners && dice.chance(8)) node.occupied = true;
    if (corners && dice.chance(15)) node.group = 7;
  }
  const int pods = dice.upto(6);
  const int largest = 1 + dice.upto(3);
  const int keeps = dice.chance(40) ? 40 : 0;
  for (int i = 0; i < pods; ++i) {
    DefragPod pod;
    pod.name = "p" + std::to_string(i);
    pod.node = static_cast<FabricNodeId>(dice.upto(nodes - 1));
    pod.chips = 1 + dice.upto(largest);
    if (pod.chips > left[pod.node]) continue;
    left[pod.node] -= pod.chips;
    pod.released = corners && dice.chance(15) ? dice.upto(pod.chips) : pod.chips;
    pod.movable = dice.chance(90);
    if (dice.chance(keeps)) pod.keep_level = dice.upto(c.levels - 1);
    c.pods.push_back(pod);
  }
  for (std::size_t n = 0; n < c.nodes.size(); ++n) c.nodes[n].free = left[n];
  c.target.level = dice.upto(c.levels) - 1;
  if (dice.chance(40)) c.target.domains = 1 + dice.upto(2);
  if (dice.chance(25)) c.target.max_moves = dice.upto(4);
  return c;
}

// Nodes and pods of few kinds, nearly full, and many pods that keep to a domain: what the search
// takes for equal must be.
DefragCase alike_defrag_case(unsigned seed) {
  DefragDice dice(seed);
  DefragCase c;
  c.levels = 2;
  const int chips = 3 + dice.upto(2);
  const int racks = 1 + dice.upto(2);
  const int keeps = 30 + dice.upto(50);
  for (int i = 0; i < 5; ++i) {
    DefragNode& node = c.nodes.emplace_back();
    node.name = "n" + std::to_string(i);
    node.path = {"b" + std::to_string(i / 3), "r" + std::to_string(i % (racks + 1))};
    node.free = chips;
  }
  for (int i = 0; i < 6; ++i) {
    DefragPod pod;
    pod.name = "p" + std::to_string(i);
    pod.node = static_cast<FabricNodeId>(dice.upto(4));
    pod.chips = pod.released = 1 + dice.upto(1);
    int& free = c.nodes[pod.node].free;
    if (pod.chips > free) continue;
    free -= pod.chips;
    pod.movable = dice.chance(85);
    if (dice.chance(keeps)) pod.keep_level = dice.upto(1);
    c.pods.push_back(pod);
  }
  // What has no pod may be filled by something else.
  for (DefragNode& node : c.nodes) {
    if (!dice.chance(60)) continue;
    node.free = std::min(node.free, dice.upto(2));
    node.occupied = dice.chance(30);
  }
  c.target.level = dice.upto(2) - 1;
  return c;
}

struct Solved {
  Fabric fabric;
  DefragPlan plan;
  std::vector<FabricNodeId> at;  // of each pod afterwards, positions in the case
};

// order: in which nodes are added to the fabric.
Solved solve(const DefragCase& c, std::uint64_t max_steps = kMaxDefragSteps,
             const std::vector<std::size_t>& order = {}) {
  Solved out{Fabric(static_cast<std::size_t>(c.levels)), {}, {}};
  std::vector<FabricNodeId> ids(c.nodes.size());
  DefragRequest request;
  for (std::size_t i = 0; i < c.nodes.size(); ++i) {
    const std::size_t n = order.empty() ? i : order[i];
    const DefragNode& node = c.nodes[n];
    ids[n] = out.fabric.add(node.name, node.path).value();
    out.fabric.set_free(ids[n], node.free);
    out.fabric.set_max_pods(ids[n], node.max_pods);
    out.fabric.set_healthy(ids[n], node.healthy);
    if (node.occupied) request.occupied.push_back(ids[n]);
    request.groups.push_back(node.group);
  }
  std::vector<DefragPod> pods = c.pods;
  for (DefragPod& pod : pods) {
    out.at.push_back(pod.node);
    pod.node = ids[pod.node];
  }
  request.fabric = &out.fabric;
  request.pods = &pods;
  request.target = c.target;
  out.plan = plan_moves(request, max_steps);
  for (const PodMove& move : out.plan.moves) {
    EXPECT_EQ(move.from, pods[move.pod].node);
    out.at[move.pod] =
        static_cast<FabricNodeId>(std::find(ids.begin(), ids.end(), move.to) - ids.begin());
  }
  return out;
}

std::string text(const DefragCase& c) {
  std::string out = "target level " + std::to_string(c.target.level) + " domains " +
                    std::to_string(c.target.domains) + " moves " +
                    std::to_string(c.target.max_moves) + "\n";
  for (const DefragNode& n : c.nodes) {
    out += n.name;
    for (const std::string& element : n.path) out += "/" + element;
    out += " free " + std::to_string(n.free) + " max_pods " + std::to_string(n.max_pods) +
           (n.healthy ? "" : " unhealthy") + (n.occupied ? " occupied" : "") + " group " +
           std::to_string(n.group) + "\n";
  }
  for (const DefragPod& p : c.pods)
    out += p.name + " on n" + std::to_string(p.node) + " chips " + std::to_string(p.chips) +
           " released " + std::to_string(p.released) + (p.movable ? "" : " fixed") + " keep " +
           std::to_string(p.keep_level) + "\n";
  return out;
}

Worth claimed(const DefragCase& c, const DefragPlan& plan) {
  return {std::min(plan.free_after - plan.free_before, c.target.domains),
          -static_cast<int>(plan.chips_moved), -static_cast<int>(plan.moves.size())};
}

constexpr unsigned kDefragCases = 1500;

TEST(DefragOracleTest, PlansAreTheBestOfAllAssignments) {
  int moving = 0;
  int using_up = 0;
  for (unsigned seed = 0; seed < kDefragCases && !HasFailure(); ++seed) {
    const DefragCase c = random_defrag_case(seed);
    DefragOracle oracle(c);
    const Solved solved = solve(c);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text(c));
    const auto worth = oracle.worth(solved.at);
    ASSERT_TRUE(worth.has_value()) << "breaks a rule";
    EXPECT_EQ(*worth, claimed(c, solved.plan));
    EXPECT_EQ(*worth, oracle.best());
    EXPECT_TRUE(solved.plan.optimal);
    EXPECT_FALSE(solved.plan.bound.has_value());
    EXPECT_EQ(solved.plan.free_before, oracle.free_domains(oracle.now()));
    EXPECT_EQ(
        solved.plan.free_after - solved.plan.free_before,
        static_cast<int>(solved.plan.freed.size()) - static_cast<int>(solved.plan.used_up.size()));
    moving += solved.plan.moves.empty() ? 0 : 1;
    using_up += solved.plan.used_up.empty() ? 0 : 1;
  }
  EXPECT_GT(moving, 250);
  EXPECT_GT(using_up, 3);
}

TEST(DefragOracleTest, AlikeNodesAndPodsThatKeepToDomains) {
  int moving = 0;
  for (unsigned seed = 0; seed < 300 && !HasFailure(); ++seed) {
    const DefragCase c = alike_defrag_case(seed);
    DefragOracle oracle(c);
    const Solved solved = solve(c);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text(c));
    EXPECT_EQ(oracle.worth(solved.at), oracle.best());
    EXPECT_TRUE(solved.plan.optimal);
    moving += solved.plan.moves.empty() ? 0 : 1;
  }
  EXPECT_GT(moving, 50);
}

// The nodes a and b are alike but for the block in which c's pod must stay: only b may become empty
// together with c.
TEST(DefragOracleTest, DomainsInDifferentPlacesAreNotAlike) {
  DefragCase c;
  c.levels = 1;
  c.nodes = {{.name = "a", .path = {"b0"}, .free = 3},
             {.name = "c", .path = {"b0"}},
             {.name = "b", .path = {"b1"}, .free = 3},
             {.name = "d", .path = {"b1"}, .free = 1, .occupied = true}};
  c.pods = {{.name = "p", .node = 0, .movable = true},
            {.name = "q", .node = 2, .movable = true},
            {.name = "r", .node = 1, .chips = 2, .released = 2, .movable = true, .keep_level = 0}};
  EXPECT_EQ(DefragOracle(c).best(), (Worth{2, -3, -2}));
  EXPECT_EQ(claimed(c, solve(c).plan), (Worth{2, -3, -2}));
}

// What is found without or with few steps keeps the rules, says that it is not proven, and the
// bounds hold.
TEST(DefragOracleTest, UnprovenPlansKeepTheRulesAndBoundTheBest) {
  int unproven = 0;
  for (unsigned seed = 0; seed < kDefragCases && !HasFailure(); ++seed) {
    const DefragCase c = random_defrag_case(seed);
    DefragOracle oracle(c);
    const Solved solved = solve(c, seed % 2 == 0 ? 0 : 10);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text(c));
    const auto worth = oracle.worth(solved.at);
    ASSERT_TRUE(worth.has_value()) << "breaks a rule";
    EXPECT_EQ(*worth, claimed(c, solved.plan));
    const Worth best = oracle.best();
    EXPECT_LE(*worth, best);
    EXPECT_EQ(solved.plan.bound.has_value(), !solved.plan.optimal);
    if (solved.plan.optimal) {
      EXPECT_EQ(*worth, best);
      continue;
    }
    ++unproven;
    EXPECT_GE(solved.plan.bound->domains, std::get<0>(best));
    EXPECT_LE(solved.plan.bound->chips, -std::get<1>(*worth));
    if (std::get<0>(*worth) == std::get<0>(best)) {
      EXPECT_LE(solved.plan.bound->chips, -std::get<1>(best));
    }
  }
  EXPECT_GT(unproven, 50);
}

TEST(DefragOracleTest, TheOrderOfNodesAndPodsHasNoInfluence) {
  for (unsigned seed = 0; seed < 1000 && !HasFailure(); ++seed) {
    const DefragCase c = random_defrag_case(seed);
    std::vector<std::size_t> order;
    for (std::size_t n = c.nodes.size(); n-- > 0;) order.push_back(n);
    DefragCase turned = c;
    std::reverse(turned.pods.begin(), turned.pods.end());
    std::vector<FabricNodeId> at = solve(turned, kMaxDefragSteps, order).at;
    std::reverse(at.begin(), at.end());
    EXPECT_EQ(solve(c).at, at) << "seed " << seed << "\n" << text(c);
  }
}

// Every step is possible when its turn comes.
TEST(DefragOracleTest, StepsCanBeCarriedOut) {
  int later = 0;
  for (unsigned seed = 0; seed < kDefragCases && !HasFailure(); ++seed) {
    const DefragCase c = random_defrag_case(seed);
    const Solved solved = solve(c);
    std::vector<MoveToOrder> moves;
    std::vector<std::int64_t> free(solved.fabric.node_numbers());
    std::vector<std::int64_t> slots(free.size());
    for (FabricNodeId id = 0; id < free.size(); ++id) {
      free[id] = solved.fabric.node(id).free;
      slots[id] = solved.fabric.node(id).max_pods;
    }
    for (const PodMove& move : solved.plan.moves)
      moves.push_back({move.from, move.to, c.pods[move.pod].chips, c.pods[move.pod].released});
    const std::vector<MoveStep> steps = order_moves(solved.fabric, moves);
    const auto stop = [&](const MoveToOrder& move) {
      free[move.from] += move.released;
      ++slots[move.from];
    };
    for (std::size_t i = 0; i < moves.size(); ++i)
      if (steps[i].stop_first) stop(moves[i]);
    std::size_t done = 0;
    for (int step = 1; done < moves.size(); ++step) {
      ASSERT_LE(step, static_cast<int>(moves.size())) << "seed " << seed << "\n" << text(c);
      for (std::size_t i = 0; i < moves.size(); ++i) {
        if (steps[i].step != step) continue;
        free[moves[i].to] -= moves[i].chips;
        EXPECT_GE(free[moves[i].to], 0) << "seed " << seed << "\n" << text(c);
        EXPECT_GE(--slots[moves[i].to], 0) << "seed " << seed << "\n" << text(c);
        ++done;
        later += step > 1 ? 1 : 0;
      }
      for (std::size_t i = 0; i < moves.size(); ++i)
        if (steps[i].step == step && !steps[i].stop_first) stop(moves[i]);
    }
  }
  EXPECT_GT(later, 3);
}

// A pod of 3 chips and one of 2 change places, so that a pod of 2 finds room beside the latter.
TEST(MoveOrder, PodsThatWaitForEachOtherAreStoppedFirst) {
  Fabric fabric(1);
  for (const char* name : {"a", "b", "c"}) (void)fabric.add(name, {"r"});
  fabric.set_free(0, 1);
  fabric.set_free(1, 1);
  const std::vector<MoveToOrder> moves{{0, 1, 3, 3}, {1, 0, 2, 2}, {2, 0, 2, 2}};
  const std::vector<MoveStep> steps = order_moves(fabric, moves);
  EXPECT_TRUE(steps[0].stop_first);
  EXPECT_FALSE(steps[1].stop_first);
  EXPECT_FALSE(steps[2].stop_first);
  EXPECT_EQ(steps[1].step, 1);
  EXPECT_EQ(steps[2].step, 1);
  EXPECT_EQ(steps[0].step, 2);
}

// Enough chips are free, but not yet these.
TEST(MoveOrder, PodsWaitForTheirOwnChips) {
  Fabric fabric(1);
  for (const char* name : {"a", "b", "c"}) (void)fabric.add(name, {"r"});
  fabric.set_free(1, 1);
  fabric.set_free(2, 1);
  const std::vector<MoveToOrder> moves{{0, 1, 1, 1, domain::ChipSet{0}, domain::ChipSet{3}},
                                       {1, 2, 1, 1, domain::ChipSet{3}, domain::ChipSet{5}}};
  const std::vector<MoveStep> steps =
      order_moves(fabric, moves, {{1, domain::ChipSet{4}}, {2, domain::ChipSet{5}}});
  EXPECT_EQ(steps[0].step, 2);
  EXPECT_EQ(steps[1].step, 1);
}

}  // namespace
}  // namespace chipweave::solver
