// Requests of a scheduler that works in sessions: only pods that a session has placed on a node
// change anything, and only until the session takes them back.
#include <gtest/gtest.h>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

class Session : public ::testing::Test {
 protected:
  // "" if it fits, else why not.
  std::string predicate(const PodRequest& pod, const std::string& node) {
    const std::string_view name = node;
    return w_.scheduler.extender().in_session(Verb::predicate, pod, {&name, 1}).of(0).reason;
  }
  std::map<std::string, int> prioritize(const PodRequest& pod) {
    const auto names = w_.all();
    const Evaluation& s = w_.scheduler.extender().in_session(Verb::prioritize, pod, names);
    std::map<std::string, int> out;
    for (std::size_t i = 0; i < names.size(); ++i) out[std::string(names[i])] = s.score(i);
    return out;
  }
  Result<void> allocate(const PodRequest& pod, const std::string& node) {
    return w_.scheduler.extender().allocate(pod, node);
  }
  void deallocate(const PodRequest& pod) { w_.scheduler.extender().deallocate(pod); }
  std::size_t held() const { return w_.scheduler.ledger().reserved(); }
  void TearDown() override { w_.expect_sound(); }

  World w_;
};

TEST_F(Session, EvaluationsReserveNothing) {
  w_.add_node("n1", "hgx-v100-8");
  w_.add_node("n2", "pcie-8");
  const auto a = w_.submit("a", 4);
  EXPECT_EQ(predicate(a, "n1"), "");
  EXPECT_EQ(predicate(a, "n2"), "");
  const auto scores = prioritize(a);
  EXPECT_EQ(scores.at("n1"), 10);
  EXPECT_LT(scores.at("n2"), 10);
  EXPECT_EQ(predicate(a, "n9"), "inventory not received");
  EXPECT_EQ(predicate(w_.submit("big", 16), "n1"), "the machine has fewer chips than requested");
  EXPECT_EQ(held(), 0U);
}

TEST_F(Session, WhatItPutsOnANodeIsNotThereForTheNext) {
  w_.add_node("n1", "hgx-v100-8");
  const auto a = w_.submit("a", 6);
  const auto b = w_.submit("b", 4);
  ASSERT_TRUE(allocate(a, "n1").ok());
  EXPECT_EQ(w_.chips(a).size(), 6U);
  EXPECT_EQ(predicate(b, "n1"), "not enough free chips");
  const auto refused = allocate(b, "n1");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text(), "pod ns/b no longer fits on node n1: not enough free chips");
  deallocate(a);
  EXPECT_EQ(held(), 0U);
  EXPECT_TRUE(allocate(b, "n1").ok());
}

// As with network topology: every candidate is tried twice, then the winner is replayed.
TEST_F(Session, DryRunsLeaveTheLastAllocationOnly) {
  for (const char* name : {"n1", "n2", "n3", "n4"}) w_.add_node(name, "hgx-v100-8");
  const auto a = w_.submit("a", 8);
  const auto b = w_.submit("b", 8);
  const auto both = [&](const char* first, const char* second) {
    EXPECT_EQ(predicate(a, first), "");
    ASSERT_TRUE(allocate(a, first).ok());
    EXPECT_EQ(predicate(b, first), "not enough free chips");
    EXPECT_EQ(predicate(b, second), "");
    ASSERT_TRUE(allocate(b, second).ok());
  };
  for (const auto& [first, second] : {std::pair("n4", "n3"), {"n1", "n2"}}) {
    for (int twice = 0; twice < 2; ++twice) {
      both(first, second);
      deallocate(b);
      deallocate(a);
      EXPECT_EQ(held(), 0U);
    }
  }
  ASSERT_TRUE(allocate(a, "n4").ok());
  ASSERT_TRUE(allocate(b, "n3").ok());
  EXPECT_EQ(w_.node_of(a), "n4");
  EXPECT_EQ(w_.node_of(b), "n3");
  EXPECT_TRUE(w_.bind(a, "n4").ok());
  EXPECT_TRUE(w_.bind(b, "n3").ok());
}

TEST_F(Session, ARepeatedEvaluationEndsAnEarlierReservation) {
  w_.add_node("n1", "hgx-v100-8");
  w_.add_node("n2", "hgx-v100-8");
  const auto a = w_.submit("a", 8);
  ASSERT_TRUE(allocate(a, "n1").ok());
  EXPECT_EQ(predicate(a, "n2"), "");
  EXPECT_EQ(held(), 0U);
  ASSERT_TRUE(allocate(a, "n1").ok());
  ASSERT_TRUE(allocate(a, "n2").ok()) << "although it was not taken back";
  EXPECT_EQ(w_.node_of(a), "n2");
  EXPECT_EQ(held(), 1U);
}

TEST_F(Session, AForgottenAllocationEndsByItself) {
  w_.add_node("n1", "hgx-v100-8");
  const auto a = w_.submit("a", 8);
  const auto b = w_.submit("b", 8);
  ASSERT_TRUE(allocate(a, "n1").ok());
  w_.clock.advance(std::chrono::seconds(20));
  ASSERT_TRUE(allocate(a, "n1").ok()) << "again: its lifetime starts over";
  w_.clock.advance(std::chrono::seconds(20));
  EXPECT_EQ(predicate(b, "n1"), "not enough free chips");
  w_.clock.advance(std::chrono::seconds(11));
  EXPECT_EQ(predicate(b, "n1"), "");
}

TEST_F(Session, HoldsNothingForPodsTheClusterDoesNotHoldSo) {
  w_.add_node("n1", "hgx-v100-8");
  EXPECT_TRUE(allocate(World::request("unknown", 4), "n1").ok());
  auto other = w_.submit("a", 4);
  other.uid = "another";
  EXPECT_TRUE(allocate(other, "n1").ok());
  EXPECT_TRUE(allocate(w_.submit("none", 0), "n1").ok());
  EXPECT_EQ(held(), 0U);
  const auto unknown = allocate(w_.submit("b", 4), "n9");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().text(), "node n9: inventory not received");
  const auto bound = w_.submit("c", 4);
  ASSERT_TRUE(w_.bind(bound, "n1").ok());
  deallocate(bound);
  EXPECT_EQ(w_.chips(bound).size(), 4U) << "a bound pod is not taken back";
  EXPECT_TRUE(allocate(bound, "n1").ok());
}

TEST_F(Session, TriesAGroupWithoutKeepingItsPlan) {
  w_.add_node("n1", "hgx-v100-8");
  w_.add_node("n2", "hgx-v100-8");
  std::vector<PodRequest> pods;
  for (int i = 0; i < 3; ++i) {
    PodRequest a = World::request("w-" + std::to_string(i), 2, "aliyun.com/gpu");
    a.group = GroupRef{"train", 3};
    pods.push_back(w_.submit(a));
  }
  for (const char* node : {"n1", "n2"}) {
    for (const auto& pod : pods) {
      EXPECT_EQ(predicate(pod, node), "");
      ASSERT_TRUE(allocate(pod, node).ok());
      EXPECT_EQ(held(), 3U) << "leaving capacity for the others";
    }
    EXPECT_NE(predicate(w_.submit(World::request(std::string("x") + node, 4)), node), "");
    for (std::size_t i = pods.size(); i-- > 0;) deallocate(pods[i]);
    EXPECT_EQ(held(), 0U) << "no plan is left";
  }
}

TEST_F(Session, WaitsUntilTheClusterIsKnown) {
  w_.add_node("n1", "hgx-v100-8");
  const auto a = w_.submit("a", 4);
  w_.scheduler.authority().set_waiting_for("chipweave-scheduler is starting");
  const auto outcome = allocate(a, "n1");
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().code, Errc::unavailable);
  EXPECT_EQ(held(), 0U);
}

// A session asks for pods that it may never place.
TEST_F(Session, TakesNothingThatIsKeptForANominatedPod) {
  w_.add_node("n1", "hgx-v100-8");
  const auto high = w_.submit(World::request("high", 6), 10);
  ClusterPod nominated = w_.pod(high);
  nominated.nominated = "n1";
  w_.scheduler.reconciler().pod_nominated(nominated);
  ASSERT_EQ(w_.chips(high).size(), 6U);
  const auto higher = w_.submit(World::request("higher", 8), 11);
  EXPECT_EQ(predicate(higher, "n1"), "not enough free chips");
  EXPECT_EQ(w_.chips(high).size(), 6U);
  EXPECT_EQ(w_.fit(higher), std::set<std::string>{"n1"}) << "kube-scheduler's request is acted on";
  EXPECT_TRUE(w_.chips(high).empty());
}

TEST_F(Session, ExplainKnowsThatItWasEvaluated) {
  w_.add_node("n1", "hgx-v100-8");
  w_.add_node("n2", "hgx-v100-8");
  for (const char* node : {"n1", "n2"})
    ASSERT_TRUE(w_.bind(w_.submit(std::string("filler-") + node, 8), node).ok());
  const auto a = w_.submit("a", 4);
  predicate(a, "n1");
  prioritize(a);
  const auto text = w_.scheduler.placements().explain(a.key);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->json.find("no scheduler has offered"), std::string::npos) << text->json;
}

}  // namespace
}  // namespace chipweave::sched::test
