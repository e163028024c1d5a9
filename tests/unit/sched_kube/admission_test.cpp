// Bindings of other schedulers, for which the API server calls our webhook before it stores them,
// or does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include <nlohmann/json.hpp>

#include "scheduler-plugin/app/annotations.hpp"
#include "tests/unit/sched_kube/admits.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

TEST_F(Admits, TheChipsAreThePodsUntilItIsBound) {
  create("a", 4);
  create("b", 8);
  const Annotations notes = admitted("a", "n1");
  EXPECT_TRUE(notes.contains(kPlacementAnnotation));
  EXPECT_EQ(world_.held("a").size(), 4U);
  EXPECT_EQ(room_for("b"), std::vector<std::string>{"n2"});
  take("a", "n1", notes);
  EXPECT_EQ(world_.annotated("a"), world_.held("a"));
  EXPECT_EQ(world_.scheduler->records().in_flight(), 0U);
  EXPECT_EQ(world_.recorder.bound_pods, std::vector<std::string>{"a"});
}

TEST_F(Admits, ARepeatedRequestGetsTheSameAnswer) {
  create("a", 4);
  const Annotations notes = admitted("a", "n1");
  EXPECT_EQ(admitted("a", "n1"), notes);
  wait(seconds(10));
  EXPECT_EQ(admitted("a", "n1"), notes) << "the first may still be stored";
  take("a", "n1", notes);
}

TEST_F(Admits, WhatTheSessionChoseIsWhatItGets) {
  create("a", 2);
  create("b", 2);
  ASSERT_TRUE(world_.scheduler->extender().allocate(world_.request(world_.pod("b")), "n1").ok());
  const auto b_chips = world_.held("b");
  const Annotations a = admitted("a", "n1");
  const Annotations b = admitted("b", "n1");
  EXPECT_EQ(world_.held("b"), b_chips);
  take("b", "n1", b);
  take("a", "n1", a);
  EXPECT_EQ(world_.annotated("b"), b_chips);
}

TEST_F(Admits, WhatNoLongerHoldsIsChosenAnew) {
  create("a", 2);
  ASSERT_TRUE(world_.scheduler->extender().allocate(world_.request(world_.pod("a")), "n1").ok());
  const auto before = world_.held("a");
  world_.add_node("n1", "hgx-v100-8", {{before.front(), domain::Health::unhealthy}});
  world_.api.settle();
  take("a", "n1", admitted("a", "n1"));
  const auto after = world_.annotated("a");
  ASSERT_EQ(after.size(), 2U);
  EXPECT_EQ(std::count(after.begin(), after.end(), before.front()), 0);
}

TEST_F(Admits, RefusesWithAReason) {
  create("a", 8);
  create("b", 1);
  take("a", "n1", admitted("a", "n1"));
  EXPECT_EQ(refused("b", "n1"), "pod ns/b no longer fits on node n1: not enough free chips");
  EXPECT_EQ(refused("b", "n9"), "node n9: inventory not received");
  create("c", 16);
  EXPECT_EQ(refused("c", "n2"),
            "pod ns/c no longer fits on node n2: the machine has fewer chips than requested");
  world_.scheduler->authority().set_waiting_for("starting");
  const Outcome outcome = request("b", "n2");
  ASSERT_TRUE(*outcome);
  EXPECT_EQ((*outcome)->error().code, Errc::unavailable);
  world_.scheduler->authority().set_waiting_for("");
}

TEST_F(Admits, HasNothingToSayOfOtherPods) {
  create("none", 0);
  EXPECT_TRUE(admitted("none", "n1").empty());
  EXPECT_TRUE(admitted("none", "n9").empty());
  const Outcome unknown = request("unknown", "n1");
  EXPECT_FALSE(*unknown) << "the pod is read from the API server first";
  world_.api.settle();
  ASSERT_TRUE(*unknown && (*unknown)->ok());
  EXPECT_TRUE((**unknown)->annotations.empty());
  create("bound", 4);
  take("bound", "n1", admitted("bound", "n1"));
  EXPECT_TRUE(admitted("bound", "n1").empty()) << "the API server refuses that itself";
  world_.create("shared", 1, "nvidia.com/gpu.shared");
  world_.api.settle();
  EXPECT_TRUE(admitted("shared", "n1").empty()) << "fractions of chips are not ours";
  EXPECT_EQ(world_.scheduler->records().in_flight(), 0U);
}

TEST_F(Admits, FindsThePodWithoutAUid) {
  create("a", 4);
  const Outcome outcome = request("a", "n1", false, false);
  ASSERT_TRUE(*outcome && (*outcome)->ok());
  EXPECT_EQ((**outcome)->annotations.count(kPlacementAnnotation), 1U);
  EXPECT_EQ((**outcome)->uid, world_.pod("a").uid);
  take("a", "n1", (**outcome)->annotations);
}

TEST_F(Admits, WithoutAUidAPodThatIsNotThereMustNotBeBound) {
  const Outcome outcome = request("a", "n1", false, false);
  world_.api.settle();
  ASSERT_TRUE(*outcome);
  ASSERT_FALSE((*outcome)->ok()) << "it may be created before the API server continues";
  EXPECT_EQ((*outcome)->error().text(), "pod ns/a does not exist");
}

// The watch may still show an earlier pod of that name, which is bound already or requests no
// chips.
TEST_F(Admits, WithoutAUidNobodyElseIsLetThrough) {
  create("a", 0);
  create("b", 2);
  take("b", "n1", admitted("b", "n1"));
  for (const char* name : {"a", "b"}) {
    const Outcome outcome = request(name, "n1", false, false);
    ASSERT_TRUE(*outcome && (*outcome)->ok());
    EXPECT_EQ((**outcome)->uid, world_.pod(name).uid);
    EXPECT_TRUE((**outcome)->annotations.empty());
  }
}

// Found by tests/chaos: such a pod was bound without its chips.
TEST_F(Admits, APodWhosePredecessorTheWatchStillShowsIsNotLetThrough) {
  create("a", 2);
  world_.api.remove("ns/a");
  world_.create("a", 4);
  const Outcome outcome = request("a", "n1");
  EXPECT_FALSE(*outcome);
  world_.api.take(0, SimulatedApi::Fate::answered);
  ASSERT_TRUE(*outcome);
  ASSERT_FALSE((*outcome)->ok()) << "its request is unknown";
  EXPECT_EQ((*outcome)->error().code, Errc::unavailable);
  EXPECT_EQ((*outcome)->error().text(), "cannot read pod ns/a: the watch has not delivered it yet");
  world_.api.settle();
  take("a", "n1", admitted("a", "n1"));
  EXPECT_EQ(world_.annotated("a").size(), 4U);
}

// The same when the deletion of the first one arrives during the request to the API server.
TEST_F(Admits, NorIsOneThatWasMadeAnewMeanwhile) {
  create("a", 2);
  world_.api.remove("ns/a");
  world_.create("a", 4);
  const Outcome outcome = request("a", "n1");
  for (std::size_t n = 0; n < world_.api.watches(); ++n) world_.api.feed(n, 1);
  world_.api.take(0, SimulatedApi::Fate::answered);
  ASSERT_TRUE(*outcome);
  EXPECT_FALSE((*outcome)->ok());
  world_.api.settle();
  take("a", "n1", admitted("a", "n1"));
}

TEST_F(Admits, APodThatTheWatchHasNotDeliveredIsRead) {
  world_.create("a", 4);
  const Outcome outcome = request("a", "n1");
  EXPECT_FALSE(*outcome);
  world_.api.take(0, SimulatedApi::Fate::answered);
  ASSERT_TRUE(*outcome && (*outcome)->ok());
  EXPECT_EQ(world_.held("a").size(), 4U);
  take("a", "n1", (**outcome)->annotations);
}

TEST_F(Admits, WithoutAWordOfTheApiServerThereIsNone) {
  world_.create("a", 4);
  const Outcome outcome = request("a", "n1");
  world_.api.take(0, SimulatedApi::Fate::lost_before);
  ASSERT_TRUE(*outcome);
  ASSERT_FALSE((*outcome)->ok());
  EXPECT_EQ((*outcome)->error().code, Errc::unavailable);
}

TEST_F(Admits, ADryRunTakesNothing) {
  create("a", 4);
  const Outcome dry = request("a", "n1", true);
  ASSERT_TRUE(*dry && (*dry)->ok());
  EXPECT_EQ(world_.scheduler->ledger().reserved() + world_.scheduler->ledger().bound(), 0U);
  EXPECT_EQ(world_.scheduler->records().in_flight(), 0U);
  const Annotations real = admitted("a", "n1");
  EXPECT_EQ(real, (**dry)->annotations) << "it announced the result";
  take("a", "n1", real);
  create("b", 8);
  const Outcome no = request("b", "n1", true);
  ASSERT_TRUE(*no);
  EXPECT_EQ((*no)->error().text(), "pod ns/b does not fit on node n1: not enough free chips");
}

TEST_F(Admits, ABindingThatNeverCameIsGivenUp) {
  create("a", 8);
  create("b", 8);
  admitted("a", "n1");
  wait(seconds(60));
  EXPECT_EQ(room_for("b"), std::vector<std::string>{"n2"}) << "it may still be stored";
  wait(seconds(30));
  EXPECT_EQ(room_for("b"), (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(world_.scheduler->records().in_flight(), 0U);
}

// Its scheduler learned that the binding failed and chooses another node.
TEST_F(Admits, ElsewhereAfterAllBothSetsAreKeptUntilItIsKnown) {
  create("a", 8);
  create("b", 8);
  const Annotations first = admitted("a", "n1");
  EXPECT_EQ(room_for("a"), (std::vector<std::string>{"n1", "n2"}));
  const Annotations second = admitted("a", "n2");
  EXPECT_NE(first, second);
  EXPECT_EQ(room_for("b"), std::vector<std::string>{}) << "either may be stored";
  EXPECT_EQ(world_.scheduler->check_invariants(), "");
  take("a", "n1", first);
  EXPECT_EQ(room_for("b"), std::vector<std::string>{"n2"});
  EXPECT_EQ(world_.holding("a")->node, world_.scheduler->nodes().find("n1"));
}

TEST_F(Admits, ElsewhereAfterAllTheOtherWayRound) {
  create("a", 8);
  create("b", 8);
  admitted("a", "n1");
  take("a", "n2", admitted("a", "n2"));
  EXPECT_EQ(room_for("b"), std::vector<std::string>{"n1"});
}

TEST_F(Admits, SecondSetsEndWithTheUncertaintyWindowAndWithThePod) {
  create("a", 8);
  create("b", 8);
  admitted("a", "n1");
  wait(seconds(40));
  admitted("a", "n2");
  wait(seconds(50));
  EXPECT_EQ(room_for("b"), std::vector<std::string>{"n1"}) << "the second is still open";
  admitted("a", "n1");
  EXPECT_EQ(room_for("b"), std::vector<std::string>{});
  world_.api.remove("ns/a");
  world_.api.settle();
  EXPECT_EQ(room_for("b"), (std::vector<std::string>{"n1", "n2"}));
}

TEST_F(Admits, OurOwnBindingPassesUnchanged) {
  create("a", 4);
  const auto outcome = world_.bind("a", "n1");
  const Annotations notes = admitted("a", "n1");  // another scheduler's, while ours is in flight
  EXPECT_EQ(refused("a", "n2"), "pod ns/a is being bound to node n1; its outcome is not known yet");
  world_.api.take(0, SimulatedApi::Fate::answered);
  EXPECT_EQ(*outcome, "bound");
  EXPECT_EQ(world_.pod("a").annotations.at(kPlacementAnnotation), notes.at(kPlacementAnnotation));
}

// The API server also calls the webhook for our own binding, which must not be treated as another
// scheduler's.
TEST_F(Admits, OurOwnIsNotWaitedForAfterItsAnswer) {
  create("a", 8);
  create("b", 8);
  const auto outcome = world_.bind("a", "n1");
  const std::string sent =
      nlohmann::json::parse(world_.api.body_of(0))["metadata"]["annotations"][kPlacementAnnotation];
  const Outcome own = request("a", "n1", false, true, sent);
  ASSERT_TRUE(*own && (*own)->ok());
  world_.api.remove("ns/a");
  world_.api.take(0, SimulatedApi::Fate::answered);
  EXPECT_EQ(*outcome, "pod ns/a does not exist");
  EXPECT_EQ(room_for("b"), (std::vector<std::string>{"n1", "n2"}));
}

// Ours fails for certain, but another scheduler's was admitted meanwhile.
TEST_F(Admits, AnothersIsWaitedForWhenOursFails) {
  create("a", 8);
  create("b", 8);
  const auto outcome = world_.bind("a", "n1");
  const Annotations notes = admitted("a", "n1");
  world_.api.refuse_next_binding(409);
  world_.api.settle();
  EXPECT_NE(*outcome, "bound");
  EXPECT_NE(*outcome, "");
  EXPECT_EQ(room_for("b"), std::vector<std::string>{"n2"});
  take("a", "n1", notes);
  EXPECT_EQ(world_.held("a").size(), 8U);
}

TEST_F(Admits, EachAdmissionIsWaitedFor) {
  create("a", 8);
  create("b", 8);
  admitted("a", "n1");
  wait(seconds(60));
  const Annotations notes = admitted("a", "n1");
  wait(seconds(50));
  EXPECT_EQ(room_for("b"), std::vector<std::string>{"n2"});
  take("a", "n1", notes);
}

TEST_F(Admits, AdmittingAgainAndAgainHoldsNoPodForever) {
  create("a", 8);
  create("b", 8);
  for (int i = 0; i < 6; ++i) {
    admitted("a", "n1");
    wait(seconds(50));
  }
  EXPECT_THAT(refused("a", "n1"), HasSubstr("admitted for 5 minutes and none has a known outcome"));
  EXPECT_EQ(room_for("b"), std::vector<std::string>{"n2"}) << "the last one may still be stored";
  wait(seconds(30));
  EXPECT_EQ(room_for("b"), (std::vector<std::string>{"n1", "n2"}));
  admitted("a", "n1");
}

TEST_F(Admits, NorDoesTheChangeOfNodes) {
  create("a", 8);
  create("b", 8);
  for (const char* node : {"n1", "n2", "n2", "n1", "n1", "n2", "n2", "n1"}) {
    admitted("a", node);
    wait(seconds(40));
  }
  for (const char* node : {"n1", "n2"})
    EXPECT_THAT(refused("a", node),
                HasSubstr("admitted for 5 minutes and none has a known outcome"));
  wait(seconds(80));
  EXPECT_EQ(room_for("b"), (std::vector<std::string>{"n1", "n2"}));
}

TEST_F(Admits, WhatWasAdmittedCanBeBoundByUs) {
  create("a", 4);
  create("b", 4);
  const Annotations notes = admitted("a", "n1");
  const auto here = world_.bind("a", "n1");
  world_.api.settle();
  EXPECT_EQ(*here, "bound");
  EXPECT_EQ(world_.pod("a").annotations.at(kPlacementAnnotation), notes.at(kPlacementAnnotation));
  admitted("b", "n1");
  const auto elsewhere = world_.bind("b", "n2");
  world_.api.settle();
  EXPECT_EQ(*elsewhere, "bound");
  EXPECT_EQ(world_.annotated("b").size(), 4U);
}

// A replica that led meanwhile has replaced this one's binding.
TEST_F(Admits, WhatThePodSaysWinsOverWhatWasSent) {
  create("a", 2);
  const auto outcome = world_.bind("a", "n1");
  const auto sent = world_.held("a");
  Annotations changed;
  changed[kPlacementAnnotation] =
      R"({"v":1,"node":"n1","podUid":")" + world_.pod("a").uid +
      R"(","resource":"nvidia.com/gpu","chips":[{"index":6},{"index":7}],"gbps":1,)"
      R"("decision":"d-000077"})";
  EXPECT_NE(sent, (std::vector<int>{6, 7}));
  // the API server answers before the watch delivers it
  world_.api.take(0, SimulatedApi::Fate::answered);
  EXPECT_EQ(*outcome, "bound");
  world_.api.annotate("ns/a", kPlacementAnnotation, changed.at(kPlacementAnnotation));
  world_.api.forget_history();  // so that only the last version is seen
  world_.come_to_rest();
  EXPECT_EQ(world_.held("a"), (std::vector<int>{6, 7}));
}

TEST_F(Admits, AGroupIsKeptTogether) {
  for (const char* name : {"w-0", "w-1", "w-2"}) {
    world_.create(name, 1, "aliyun.com/gpu",
                  {{"gpu-topology", "t"}, {"gpu-topology-replica", "3"}});
  }
  world_.api.settle();
  for (const char* name : {"w-0", "w-1", "w-2"}) take(name, "n1", admitted(name, "n1"));
  EXPECT_EQ(world_.scheduler->ledger().bound(), 3U);
}

}  // namespace
}  // namespace chipweave::sched::test
