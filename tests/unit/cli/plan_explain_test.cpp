// What `plan --explain` says, and several gangs on one network: in cases, and the runner-up against
// all plans of small networks.
#include "cli/plan/plan_explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <set>

#include "cli/plan/render_plan.hpp"
#include "cli/plan/take_chips.hpp"

namespace chipweave::cli::plan_explain_test {
namespace {

using codec::PlanExplanation;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Explained {
  codec::PlanRequest request;
  PlanEngine::Decided decided;
  PlanExplanation why;

  std::string page() const { return render_explanation(request, why); }
  const PlanExplanation::Relaxed& without(const std::string& constraint) const {
    const auto at = std::find_if(why.relaxed.begin(), why.relaxed.end(), [&](const auto& one) {
      return one.constraint.starts_with(constraint);
    });
    if (at == why.relaxed.end()) throw std::runtime_error("not relaxed: " + constraint);
    return *at;
  }
};

Explained explained(const std::string& network, const std::string& gang,
                    const std::vector<std::string>& if_fails = {}) {
  auto line = codec::parse_plan_line(R"({"network":)" + network + R"(,"gang":)" + gang + "}");
  if (!line.request) throw std::runtime_error(line.request.error().text());
  PlanEngine engine;
  const auto prepared = engine.prepare(*line.request);
  if (!prepared) throw std::runtime_error(prepared.error().text());
  auto decided = PlanEngine::decide(*line.request, *prepared);
  if (!decided) throw std::runtime_error(decided.error().text());
  auto why = explain_plan(engine, *line.request, *prepared, *decided, if_fails);
  if (!why) throw std::runtime_error(why.error().text());
  return {*std::move(line.request), *std::move(decided), *std::move(why)};
}

const std::string kTwoRacks = R"({"levels":["block","rack"],"nodes":[
  {"name":"a1","path":["b","r1"],"free":8},{"name":"a2","path":["b","r1"],"free":4},
  {"name":"c1","path":["b","r2"],"free":8},{"name":"c2","path":["b","r2"],"free":8,"healthy":false},
  {"name":"d1","path":["z","r3"],"free":8}]})";

TEST(PlanExplain, SaysWhatBoundThePlanAndTheRunnerUp) {
  const Explained out = explained(kTwoRacks, R"({"pods":3,"chips_per_pod":8,"min_member":2})");
  // Two racks of block b give two pods, block z one more: three pods in two blocks.
  ASSERT_TRUE(out.decided.plan.fits);
  EXPECT_EQ(out.why.outcome.placed, 3);
  ASSERT_EQ(out.why.bounds.size(), 2U);
  EXPECT_EQ(out.why.bounds[0].level, "block");
  EXPECT_EQ(out.why.bounds[0].roomiest, "b");
  EXPECT_EQ(out.why.bounds[0].room, 2);
  EXPECT_EQ(out.why.bounds[0].asked, 3);
  ASSERT_TRUE(out.why.runner_up);
  EXPECT_EQ(out.why.runner_up->outcome.placed, 2);
  EXPECT_THAT(out.page(), HasSubstr("block: 2 domains; the one with the most room, b, has room for "
                                    "2 of 3 pods"));
}

TEST(PlanExplain, SaysWhatEachConstraintCosts) {
  const Explained out =
      explained(kTwoRacks, R"({"pods":2,"chips_per_pod":8,"required_level":"block",
                     "slices":[{"level":"rack","size":1}]})");
  EXPECT_EQ(out.without("required_level block").outcome.nodes, 2);
  EXPECT_EQ(out.without("slices rack of 1").outcome.domains, (std::vector<int>{1, 2}));
  // With c2 both pods are in rack r2.
  EXPECT_EQ(out.without("unhealthy state of 1 node").outcome.domains, (std::vector<int>{1, 1}));
  EXPECT_THAT(out.page(), AllOf(HasSubstr("without unhealthy state of 1 node: block 1, rack 1"),
                                HasSubstr("nothing is gained without: required_level block; "
                                          "slices rack of 1")));
}

TEST(PlanExplain, AGangThatDoesNotFitLearnsWhatWouldHelp) {
  const Explained out =
      explained(kTwoRacks, R"({"pods":2,"chips_per_pod":8,"required_level":"rack"})");
  ASSERT_FALSE(out.decided.plan.fits);
  EXPECT_FALSE(out.why.runner_up);
  EXPECT_TRUE(out.without("required_level rack, block instead").outcome.fits);
  EXPECT_TRUE(out.without("min_member 2").outcome.fits);
  EXPECT_TRUE(out.without("unhealthy state").outcome.fits);
  EXPECT_TRUE(out.why.failures.empty());
  EXPECT_THAT(out.page(), HasSubstr("without min_member 2: fits: 1 pod on"));
}

TEST(PlanExplain, RolesAreRelaxedOneByOne) {
  const Explained out = explained(kTwoRacks, R"({"roles":[
      {"name":"lead","pods":1,"chips_per_pod":8,"required_level":"rack"},
      {"name":"work","pods":2,"chips_per_pod":8,"required_level":"rack"}],"min_member":3})");
  ASSERT_FALSE(out.decided.plan.fits);
  EXPECT_FALSE(out.without("role lead: required_level rack").outcome.fits);
  EXPECT_TRUE(out.without("role work: required_level rack").outcome.fits);
}

TEST(PlanExplain, SaysWherePodsMoveIfANodeFails) {
  const Explained out = explained(kTwoRacks, R"({"pods":2,"chips_per_pod":8})");
  ASSERT_EQ(out.why.failures.size(), 2U);
  EXPECT_EQ(out.why.failures[0].node, "a1");
  EXPECT_THAT(out.why.failures[0].moves_to, ElementsAre("d1"));
  EXPECT_EQ(out.why.failures[0].outcome.domains, (std::vector<int>{2, 2}));
  EXPECT_EQ(out.why.failures[0].outcome.nodes, 2);
  const Explained inside =
      explained(kTwoRacks, R"({"pods":2,"chips_per_pod":8,"required_level":"block"})", {"c1"});
  ASSERT_EQ(inside.why.failures.size(), 1U);
  EXPECT_FALSE(inside.why.failures[0].outcome.fits);
  EXPECT_THAT(inside.page(), HasSubstr("if c1 fails: "));
}

TEST(PlanExplain, ANodeOutsideThePlanCannotFail) {
  auto line = codec::parse_plan_line(R"({"network":)" + kTwoRacks +
                                     R"(,"gang":{"pods":1,"chips_per_pod":8}})");
  PlanEngine engine;
  const auto prepared = engine.prepare(*line.request);
  const auto decided = PlanEngine::decide(*line.request, *prepared);
  const auto why = explain_plan(engine, *line.request, *prepared, *decided, {"d9"});
  ASSERT_FALSE(why);
  EXPECT_THAT(why.error().text(), HasSubstr("d9"));
}

TEST(PlanExplain, ChipsOfTheOtherPodsStayTheirsWhileANodeFails) {
  const std::string network = R"({"levels":["rack"],"nodes":[
      {"name":"x1","path":["r"],"machine":"hgx-h100-8"},{"name":"x2","path":["r"],"machine":"hgx-h100-8"},
      {"name":"x3","path":["r"],"machine":"hgx-h100-8","free_chips":[0,1,2,3]}]})";
  const Explained out = explained(network, R"({"pods":4,"chips_per_pod":4})", {"x1"});
  ASSERT_EQ(out.why.failures.size(), 1U);
  // x2 keeps its two pods; x3 has room for one of two.
  EXPECT_FALSE(out.why.failures[0].outcome.fits);
  const Explained some =
      explained(network, R"({"pods":4,"chips_per_pod":4,"min_member":3})", {"x1"});
  EXPECT_THAT(some.why.failures[0].moves_to, ElementsAre("x3"));
  EXPECT_EQ(some.why.failures[0].outcome.placed, 1);
}

// ---- the runner-up against all plans of small networks ----

struct SmallNode {
  int block = 0;
  int rack = 0;
  int room = 0;  // pods
};

struct Value {
  int racks = 0, blocks = 0, nodes = 0;
  auto operator<=>(const Value& other) const {
    return std::tuple(blocks, racks, nodes) <=> std::tuple(other.blocks, other.racks, other.nodes);
  }
  bool operator==(const Value&) const = default;
};

Value value_of(const std::vector<SmallNode>& nodes, const std::set<std::size_t>& used) {
  std::set<int> blocks;
  std::set<std::pair<int, int>> racks;
  for (const std::size_t i : used) {
    blocks.insert(nodes[i].block);
    racks.emplace(nodes[i].block, nodes[i].rack);
  }
  Value out;
  out.blocks = static_cast<int>(blocks.size());
  out.racks = static_cast<int>(racks.size());
  out.nodes = static_cast<int>(used.size());
  return out;
}

TEST(PlanExplain, NoPlanOnOtherNodesIsBetterThanTheRunnerUp) {
  std::mt19937 random(5);
  const auto draw = [&random](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  int compared = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<SmallNode> nodes;
    std::string network = R"({"levels":["block","rack"],"nodes":[)";
    for (int i = 0; i < 6; ++i) {
      nodes.push_back({draw(0, 1), draw(0, 1), draw(0, 3)});
      network += (i == 0 ? "" : ",") + std::string(R"({"name":"n)") + std::to_string(i) +
                 R"(","path":["b)" + std::to_string(nodes.back().block) + R"(","r)" +
                 std::to_string(nodes.back().rack) + R"("],"free":)" +
                 std::to_string(nodes.back().room) + "}";
    }
    const int pods = draw(1, 5);
    const Explained out =
        explained(network + "]}", R"({"pods":)" + std::to_string(pods) + R"(,"chips_per_pod":1})");
    if (!out.decided.plan.fits) continue;
    std::set<std::size_t> used;
    for (const domain::PlannedPod& pod : out.decided.plan.pods) used.insert(pod.node);
    std::optional<Value> best;
    for (unsigned mask = 1; mask < 64; ++mask) {
      std::set<std::size_t> set;
      int room = 0;
      for (std::size_t i = 0; i < 6; ++i) {
        if ((mask >> i & 1U) == 0) continue;
        set.insert(i);
        room += nodes[i].room;
      }
      // Each node of the set gets a pod at least.
      const bool all =
          std::all_of(set.begin(), set.end(), [&](std::size_t i) { return nodes[i].room > 0; });
      if (!all || room < pods || static_cast<int>(set.size()) > pods || set == used) continue;
      // A plan with these nodes and more is not on other nodes.
      if (std::includes(set.begin(), set.end(), used.begin(), used.end())) continue;
      const Value value = value_of(nodes, set);
      if (!best || value < *best) best = value;
    }
    ASSERT_EQ(best.has_value(), out.why.runner_up.has_value()) << network;
    if (!best) continue;
    ++compared;
    const codec::PlanOutcome& other = out.why.runner_up->outcome;
    EXPECT_EQ(other.domains, (std::vector<int>{best->blocks, best->racks})) << network;
    EXPECT_EQ(other.nodes, best->nodes) << network;
    EXPECT_FALSE(out.why.runner_up->without.empty());
  }
  EXPECT_GT(compared, 150);
}

// ---- several gangs ----

TEST(PlanGangs, AreReadByPriorityAndThenInOrder) {
  const auto line = codec::parse_plan_gangs(R"({"id":7,"network":)" + kTwoRacks + R"(,"gangs":[
      {"name":"a","pods":1,"chips_per_pod":8},{"name":"b","priority":3,"pods":2,"chips_per_pod":8},
      {"name":"c","pods":1,"chips_per_pod":8}]})");
  ASSERT_TRUE(line.request) << line.request.error().text();
  EXPECT_TRUE(line.request->several);
  std::vector<std::string> names;
  for (const codec::NamedGang& gang : line.request->gangs) names.push_back(gang.name);
  EXPECT_THAT(names, ElementsAre("b", "a", "c"));
  EXPECT_EQ(line.request->gangs.front().request.gang.pods, 2);
}

TEST(PlanGangs, ErrorsNameTheGangAndTheKey) {
  const auto refused = [](const std::string& gangs) {
    const auto line =
        codec::parse_plan_gangs(R"({"network":)" + kTwoRacks + R"(,"gangs":)" + gangs + "}");
    return line.request ? std::string("none") : line.request.error().text();
  };
  EXPECT_THAT(refused("[]"), HasSubstr("gangs: must name at least one gang"));
  EXPECT_THAT(refused(R"([{"pods":1,"chips_per_pod":1}])"), HasSubstr("gangs[0].name: is missing"));
  EXPECT_THAT(refused(R"([{"name":"a","pods":1,"chips_per_pod":1},{"name":"a"}])"),
              HasSubstr("gangs[1].name"));
  EXPECT_THAT(refused(R"([{"name":"a","pods":1,"chips":1}])"),
              AllOf(HasSubstr("gangs[0]"), HasSubstr("chips")));
  EXPECT_THAT(refused(R"([{"name":"a","pods":1,"chips_per_pod":1,"priority":"x"}])"),
              HasSubstr("gangs[0].priority"));
  EXPECT_THAT(refused("[4]"), HasSubstr("gangs[0]"));
  EXPECT_THAT(refused("{}"), HasSubstr("gangs"));
}

TEST(PlanGangs, ChipsOfOneAreTakenFromTheNext) {
  const std::string network = R"({"levels":["rack"],"nodes":[
      {"name":"x1","path":["r"],"machine":"hgx-h100-8","free_chips":[0,1,2,3,4,5],"loaded_chips":[],"max_pods":3},
      {"name":"x2","path":["r"],"free":5},{"name":"x3","path":["r"],"machine":"hgx-h100-8"}]})";
  const auto line = codec::parse_plan_gangs(R"({"network":)" + network + R"(,"gangs":[
      {"name":"a","pods":4,"chips_per_pod":4},{"name":"b","pods":1,"chips_per_pod":1}]})");
  ASSERT_TRUE(line.request) << line.request.error().text();
  PlanEngine engine;
  codec::PlanRequest first = line.request->gangs[0].request;
  codec::PlanRequest next = line.request->gangs[1].request;
  const auto prepared = engine.prepare(first);
  ASSERT_TRUE(prepared);
  const auto decided = PlanEngine::decide(first, *prepared);
  ASSERT_TRUE(decided && decided->plan.fits);
  take_chips(*decided, first, *prepared, next);
  EXPECT_EQ(next.nodes[0].free, 2);
  EXPECT_EQ(next.nodes[0].free_chips->size(), 2U);
  EXPECT_EQ(next.nodes[0].loaded_chips->size(), 4U);
  EXPECT_EQ(next.nodes[0].max_pods, 2);
  EXPECT_EQ(next.nodes[1].free, 1);
  EXPECT_TRUE(next.nodes[2].free_chips->empty());
}

}  // namespace
}  // namespace chipweave::cli::plan_explain_test
