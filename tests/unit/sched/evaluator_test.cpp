// Evaluator alone: verdicts are a function of the request's context and the nodes.
#include "scheduler-plugin/app/evaluator.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

struct Evaluates : ::testing::Test {
  void add(const std::string& name, const std::string& machine) {
    InventoryReport report;
    report.node = name;
    report.boot_id = "boot";
    report.sequence = 1;
    report.topology = profile(machine);
    report.resources = {"nvidia.com/gpu"};
    ASSERT_EQ(nodes.report(std::move(report), {}).outcome, ReportOutcome::taken);
  }
  void take(const std::string& name, std::uint64_t chips) {
    nodes.set_taken(nodes.find(name), domain::ChipSet(chips), 1);
  }
  RequestContext context(int chips) {
    pod = World::request("p", chips);
    RequestContext of;
    of.pod = &pod;
    return of;
  }
  const Evaluation& evaluate(int chips, const std::vector<std::string_view>& names) {
    return evaluator.evaluate(context(chips), names);
  }

  NodeTable nodes;
  Evaluator evaluator{nodes};
  PodRequest pod;
};

TEST_F(Evaluates, EachNodeGetsTheVerdictOfItsState) {
  add("free", "hgx-v100-8");
  add("full", "hgx-v100-8");
  take("full", 0xff);
  const Evaluation& found = evaluate(4, {"free", "full", "unknown"});
  EXPECT_EQ(found.fits, 1U);
  EXPECT_EQ(found.best_node, nodes.find("free"));
  EXPECT_EQ(found.of(0).cause, Cause::none);
  EXPECT_EQ(found.of(1).cause, Cause::busy);
  EXPECT_EQ(found.of(1).remedy, Remedy::preemption);
  EXPECT_EQ(found.of(2).cause, Cause::unknown_node);
  EXPECT_EQ(rejection_summary(evaluate(4, {"full", "unknown"})),
            "inventory not received; not enough free chips");
}

TEST_F(Evaluates, TheSameInputGivesTheSameAnswerAndTheNodesStayAsTheyAre) {
  add("a", "hgx-v100-8");
  add("b", "pcie-8");
  const std::uint64_t before = nodes.last_serial();
  const Evaluation first = evaluate(4, {"b", "a"});
  const Evaluation second = evaluate(4, {"b", "a"});
  EXPECT_EQ(first.best_node, second.best_node);
  EXPECT_EQ(first.verdict, second.verdict);
  EXPECT_EQ(first.score(0), second.score(0));
  EXPECT_EQ(nodes.last_serial(), before);
  EXPECT_EQ(evaluator.check_verdicts(), "");
}

TEST_F(Evaluates, SmallPodsLeaveTheFastFabricToThoseWhoCanUseIt) {
  add("fast", "hgx-h100-8");
  add("slow", "hgx-v100-8");
  const std::vector<std::string_view> both{"fast", "slow"};
  EXPECT_EQ(evaluate(8, both).best_node, nodes.find("fast"));
  const Evaluation& single = evaluate(1, both);
  EXPECT_EQ(single.best_node, nodes.find("slow"));
  EXPECT_EQ(considered(single, nodes).at(0).reason, "fast enough, but others would lose more");
  // Two V100 have 40 of the 50 GB/s that two chips can use.
  EXPECT_EQ(evaluate(2, both).best_node, nodes.find("fast"));
  RequestContext modest = context(2);
  pod.needs_gbps = 40;
  EXPECT_EQ(evaluator.evaluate(modest, both).best_node, nodes.find("slow"));
  pod.needs_gbps = 45;
  EXPECT_EQ(evaluator.evaluate(modest, both).best_node, nodes.find("fast"));
  Evaluator tolerant{nodes, {0.3, 50}};
  pod.needs_gbps = 0;
  EXPECT_EQ(tolerant.evaluate(modest, both).best_node, nodes.find("slow"));
  modest.distributed = true;  // a part of a larger job can use all of it
  EXPECT_EQ(tolerant.evaluate(modest, both).best_node, nodes.find("fast"));
}

TEST_F(Evaluates, TheObjectiveOfThePodChoosesItsChips) {
  // Four V100 of a cube: two NVLinks each around 0-3-2-1 or the four of one quad; the objectives
  // differ where the fastest four are not the nearest.
  add("a", "hgx-v100-8");
  const std::vector<std::string_view> only{"a"};
  RequestContext four = context(4);
  const ChipSet fast = evaluator.answer(four, nodes.find("a")).chips;
  pod.objective = domain::Objective::latency;
  const Answer near = evaluator.answer(four, nodes.find("a"));
  EXPECT_EQ(near.request.objective, domain::Objective::latency);
  solver::Machine machine(nodes.node(nodes.find("a")).topology);
  EXPECT_EQ(near.chips,
            machine.choose({machine.topology().all(), {}, {}, 4, false, domain::Objective::latency})
                .chips);
  EXPECT_EQ(fast, machine.choose({machine.topology().all(), {}, {}, 4, false}).chips);
  // One verdict for each objective.
  EXPECT_EQ(evaluator.evaluate(four, only).fits, 1U);
  pod.objective = domain::Objective::bandwidth;
  EXPECT_EQ(evaluator.evaluate(four, only).fits, 1U);
  EXPECT_EQ(evaluator.check_verdicts(), "");
}

TEST_F(Evaluates, ChipsKeepAwayFromTheUplinksOfOthers) {
  add("a", "pcie-8");
  take("a", 1);
  const Answer two = evaluator.answer(context(1), nodes.find("a"));
  EXPECT_EQ(two.request.loaded, nodes.node(nodes.find("a")).taken);
}

TEST_F(Evaluates, AKeptVerdictGoesWithTheState) {
  add("a", "hgx-v100-8");
  EXPECT_EQ(evaluate(8, {"a"}).fits, 1U);
  take("a", 1);
  EXPECT_EQ(evaluate(8, {"a"}).fits, 0U);
  take("a", 0);
  EXPECT_EQ(evaluate(8, {"a"}).fits, 1U);
}

TEST_F(Evaluates, OnlyTheNodeOfAGroupOrABindingCounts) {
  add("a", "hgx-v100-8");
  add("b", "hgx-v100-8");
  RequestContext only = context(2);
  only.only = nodes.find("b");
  const std::vector<std::string_view> names{"a", "b"};
  EXPECT_EQ(evaluator.evaluate(only, names).of(0).cause, Cause::group);
  const Decision binding;
  only.binding = &binding;
  EXPECT_EQ(evaluator.evaluate(only, names).of(0).cause, Cause::binding);
  EXPECT_TRUE(evaluator.evaluation().of(1).fits());
}

TEST_F(Evaluates, WhyTheOthersLost) {
  add("best", "hgx-v100-8");
  add("slow", "pcie-8");
  const auto others = considered(evaluate(4, {"best", "slow"}), nodes);
  ASSERT_EQ(others.size(), 1U);
  EXPECT_EQ(others[0].node, "slow");
  EXPECT_EQ(others[0].reason.substr(0, 8), "slower: ");
}

}  // namespace
}  // namespace chipweave::sched::test
