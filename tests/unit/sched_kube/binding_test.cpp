// Bindings whose outcome is late, lost, contested or malformed.
#include <gtest/gtest.h>

#include "common/obs/log.hpp"
#include "scheduler-plugin/kube/kubernetes.hpp"
#include "scheduler-plugin/server/decision_log.hpp"
#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

using Fate = SimulatedApi::Fate;
using std::chrono::milliseconds;
using std::chrono::seconds;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class KubeBind : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.add_node("n1", "hgx-v100-8");
    world_.add_node("n2", "hgx-v100-8");
    world_.api.settle();
    world_.tick();
  }
  void TearDown() override {
    world_.come_to_rest();
    world_.expect_ledger_is_the_truth();
    world_.expect_no_chip_twice();
  }
  // All requests of the binding are lost until the program gives up; the first POST may arrive
  // later.
  std::shared_ptr<std::string> bind_without_answer(const std::string& name,
                                                   const std::string& node) {
    auto outcome = world_.bind(name, node);
    world_.api.detach(0);
    while (outcome->empty()) {
      if (world_.api.waiting() > 0) world_.api.take(0, Fate::lost_before);
      world_.pass(milliseconds(100));
    }
    return outcome;
  }
  DecisionLog log_;  // outlives the world
  KubeWorld world_;
};

TEST_F(KubeBind, WritesNodeAndChipsAtOnce) {
  world_.create("a", 2);
  world_.api.settle();
  EXPECT_EQ(world_.fit("a"), (std::vector<std::string>{"n1", "n2"}));
  const auto outcome = world_.bind("a", "n2");
  EXPECT_EQ(*outcome, "") << "only the API server can decide that";
  EXPECT_EQ(world_.held("a"), (std::vector<int>{0, 3})) << "held nevertheless";
  world_.api.take(0, Fate::answered);
  EXPECT_EQ(*outcome, "bound");
  EXPECT_EQ(world_.pod("a").node, "n2");
  EXPECT_EQ(world_.annotated("a"), (std::vector<int>{0, 3}));
  EXPECT_EQ(*world_.bind("a", "n2"), "bound") << "a repeated request, as after a lost answer";
  world_.come_to_rest();
  EXPECT_EQ(world_.recorder.bound_pods, std::vector<std::string>{"a"}) << "reported once";
  EXPECT_EQ(world_.api.events, (std::vector<std::string>{"ChipsAssigned", "ChipsNotEnforced"}));
}

TEST_F(KubeBind, TheWatchMayBeFasterThanTheAnswer) {
  world_.create("a", 2);
  world_.api.settle();
  const auto outcome = world_.bind("a", "n1");
  world_.api.take(0, Fate::lost_after);
  EXPECT_EQ(*outcome, "");
  for (std::size_t i = 0; i < world_.api.watches(); ++i) world_.api.feed(i, 10);
  EXPECT_EQ(*outcome, "bound");
}

TEST_F(KubeBind, WhileUncertainThePodKeepsItsChipsAndNode) {
  world_.create("a", 8);
  world_.create("b", 8);
  world_.api.settle();
  const auto outcome = bind_without_answer("a", "n1");
  EXPECT_TRUE(holds(*outcome, "did not take the binding")) << *outcome;
  EXPECT_EQ(world_.held("a").size(), 8U);
  world_.pass(seconds(40));  // longer than any reservation
  EXPECT_EQ(world_.fit("b"), std::vector<std::string>{"n2"});
  EXPECT_EQ(world_.fit("a"), std::vector<std::string>{"n1"});
  const auto elsewhere = world_.bind("a", "n2");
  EXPECT_TRUE(holds(*elsewhere, "is being bound to node n1")) << *elsewhere;
  // a repeated request sends the same binding again
  const auto again = world_.bind("a", "n1");
  world_.api.take(0, Fate::answered);
  EXPECT_EQ(*again, "bound");
  world_.api.deliver_detached(0);  // and the first one arrives too late to do harm
}

TEST_F(KubeBind, ABindingThatArrivesWithinAMinuteIsTaken) {
  world_.create("a", 8);
  world_.create("b", 8);
  world_.create("c", 8);
  world_.api.settle();
  bind_without_answer("a", "n1");
  world_.pass(seconds(50));
  EXPECT_EQ(world_.fit("b"), std::vector<std::string>{"n2"});
  const auto b = world_.bind("b", "n1");
  EXPECT_TRUE(holds(*b, "no longer fits")) << *b;
  world_.api.deliver_detached(0);
  world_.api.settle();
  EXPECT_EQ(world_.pod("a").node, "n1");
}

TEST_F(KubeBind, ABindingThatNeverArrivesIsGivenUpOnceThePodIsReadUnbound) {
  world_.create("a", 8);
  world_.api.settle();
  bind_without_answer("a", "n1");
  world_.pass(seconds(80));
  ASSERT_EQ(world_.api.waiting(), 1U) << "the pod is read";
  world_.api.take(0, Fate::lost_before);
  EXPECT_EQ(world_.held("a").size(), 8U) << "without an answer nothing is reported";
  world_.pass(seconds(6));
  world_.api.take(0, Fate::answered);
  EXPECT_EQ(world_.held("a"), std::vector<int>{});
  EXPECT_EQ(world_.fit("a").size(), 2U);
}

// What the API server has stored is in the ledger before any caller is answered, with or without
// the watch.
TEST_F(KubeBind, WhoWasBoundBySomebodyElseIsCountedBeforeTheAnswer) {
  world_.create("a", 2);
  world_.api.settle();
  const auto outcome = world_.bind("a", "n1");
  world_.api.set_node("ns/a", "n2");
  while (outcome->empty()) world_.api.take(0, Fate::answered);
  EXPECT_TRUE(holds(*outcome, "was bound to node n2 by another scheduler")) << *outcome;
  ASSERT_NE(world_.holding("a"), nullptr);
  EXPECT_TRUE(world_.holding("a")->assumed);
  EXPECT_EQ(world_.scheduler->nodes().node(world_.holding("a")->node).name, "n2");
}

// Until the pod was read, it may have the chips that were meant for it.
TEST_F(KubeBind, AConflictIsUncertainUntilThePodWasRead) {
  world_.create("a", 8);
  world_.create("b", 8);
  world_.api.settle();
  const auto outcome = world_.bind("a", "n1");
  world_.api.set_node("ns/a", "n1");
  world_.api.take(0, Fate::answered);  // the binding: a conflict
  world_.api.take(0, Fate::answered);  // the pod, for the binding's outcome
  ASSERT_EQ(world_.api.waiting(), 1U) << "the pod is read again";
  world_.api.take(0, Fate::lost_before);
  EXPECT_TRUE(holds(*outcome, "by another scheduler; cannot read pod ns/a")) << *outcome;
  EXPECT_EQ(world_.held("a").size(), 8U);
  EXPECT_EQ(world_.fit("b"), std::vector<std::string>{"n2"});
  world_.pass(seconds(76));
  const auto again =
      world_.api.find([](const kube::Call& call) { return call.target.ends_with("/pods/a"); });
  ASSERT_TRUE(again) << "and later once more";
  world_.api.take(*again, Fate::answered);
  ASSERT_NE(world_.holding("a"), nullptr);
  EXPECT_TRUE(world_.holding("a")->assumed);
}

// Its chips are free: the read shows that it is gone.
TEST_F(KubeBind, AConflictOfAPodThatIsGoneIsCertain) {
  world_.create("a", 8);
  world_.api.settle();
  const auto outcome = world_.bind("a", "n1");
  const std::string uid = world_.pod("a").uid;
  world_.api.set_node("ns/a", "n2");
  world_.api.take(0, Fate::answered);  // the binding: a conflict
  world_.api.take(0, Fate::answered);  // the pod, for the binding's outcome
  world_.api.remove("ns/a");
  world_.api.take(0, Fate::answered);
  EXPECT_TRUE(holds(*outcome, "is already bound to node n2")) << *outcome;
  EXPECT_EQ(world_.scheduler->ledger().find(uid), nullptr);
}

// The API server quotes the URL of a webhook that it cannot reach, and ours has a secret in it.
TEST_F(KubeBind, NoSecretOfAWebhookGetsIntoMessages) {
  const std::string message =
      R"(failed calling webhook \"binding.chipweave.dev\": Post \"https://chipweave.svc:8443)"
      R"(/callers/s3cr3t-of-the-webhook/admission/binding?timeout=5s\": connection refused)";
  world_.observers->add(log_);
  world_.create("a", 2);
  world_.api.settle();
  obs::set_level("warn");
  ::testing::internal::CaptureStderr();
  for (const int status : {500, 403, 400}) {
    const auto outcome = world_.bind("a", "n1");
    while (outcome->empty()) {
      world_.api.refuse_next_binding(status, message);
      if (world_.api.waiting() > 0) world_.api.take(0, Fate::answered);
      world_.pass(milliseconds(100));
    }
    EXPECT_TRUE(holds(*outcome, "/callers/***/admission/binding")) << *outcome;
    EXPECT_FALSE(holds(*outcome, "s3cr3t")) << *outcome;
  }
  const std::string logged = ::testing::internal::GetCapturedStderr();
  obs::set_level("error");
  EXPECT_TRUE(holds(logged, "/callers/***/admission/binding")) << logged;
  EXPECT_FALSE(holds(logged, "s3cr3t")) << logged;
  ASSERT_EQ(world_.recorder.bind_errors.size(), 3U);
  for (const std::string& error : world_.recorder.bind_errors)
    EXPECT_FALSE(holds(error, "s3cr3t")) << error;
  world_.api.refuse_next_binding(0);
}

TEST_F(KubeBind, APodThatIsDeletedMeanwhileGivesItsChipsBack) {
  world_.create("a", 8);
  world_.api.settle();
  const auto outcome = world_.bind("a", "n1");
  const std::string uid = world_.pod("a").uid;
  world_.api.remove("ns/a");
  for (std::size_t i = 0; i < world_.api.watches(); ++i) world_.api.feed(i, 10);
  EXPECT_TRUE(holds(*outcome, "was deleted")) << *outcome;
  EXPECT_EQ(world_.scheduler->ledger().find(uid), nullptr);
}

TEST_F(KubeBind, APodThatTheWatchHasNotDeliveredIsRead) {
  world_.create("a", 2);
  const auto outcome = world_.bind("a", "n1");
  ASSERT_EQ(world_.api.waiting(), 1U);
  world_.api.take(0, Fate::answered);  // the pod
  world_.api.take(0, Fate::answered);  // the binding
  EXPECT_EQ(*outcome, "bound");
  const auto none = world_.bind_as("ns", "none", "u", "n1");
  while (none->empty()) world_.api.take(0, Fate::answered);
  EXPECT_EQ(*none, "pod ns/none does not exist");
  const auto bad = world_.bind_as("ns/../x", "a b", "u", "n1");
  world_.pass(milliseconds(1));
  EXPECT_EQ(*bad, "pod ns/../x/a b does not exist") << "such a name must not reach a path";
}

TEST_F(KubeBind, AnotherPodOfTheSameNameIsNotBound) {
  world_.create("a", 2);
  world_.api.settle();
  const std::string old = world_.pod("a").uid;
  world_.api.remove("ns/a");
  world_.create("a", 2);
  const auto outcome = world_.bind_as("ns", "a", old, "n1");  // the watch has not delivered it yet
  while (outcome->empty()) world_.api.take(0, Fate::answered);
  EXPECT_TRUE(holds(*outcome, "another uid")) << *outcome;
  EXPECT_EQ(world_.pod("a").node, "");
}

// The watch lags: it delivers an event of an earlier pod of that name while the binding is
// uncertain.
TEST_F(KubeBind, OldNewsOfTheNameDoesNotGiveUpABinding) {
  world_.create("a", 2);
  world_.api.remove("ns/a");
  world_.create("a", 2);
  const std::string uid = world_.pod("a").uid;
  const auto outcome = world_.bind("a", "n1");
  world_.api.take(0, Fate::answered);    // the pod, which the watch has not delivered
  world_.api.take(0, Fate::lost_after);  // the binding
  for (std::size_t step = 0; step < 3; ++step) {
    for (std::size_t i = 0; i < world_.api.watches(); ++i) world_.api.feed(i, 1);
    ASSERT_NE(world_.scheduler->ledger().find(uid), nullptr) << step;
    EXPECT_EQ(world_.held("a"), (std::vector<int>{0, 3})) << step;
  }
  world_.api.settle();
  EXPECT_EQ(*outcome, "bound");
}

TEST_F(KubeBind, APodWithoutChipsIsBoundAsItIs) {
  world_.create("cpu", 0);
  world_.api.settle();
  EXPECT_EQ(world_.fit("cpu").size(), 2U);
  const auto outcome = world_.bind("cpu", "n1");
  world_.api.settle();
  EXPECT_EQ(*outcome, "bound");
  EXPECT_TRUE(world_.pod("cpu").annotations.empty());
  world_.come_to_rest();
  EXPECT_EQ(world_.kubernetes->cluster().size(), 0U) << "of no interest once it is bound";
}

TEST_F(KubeBind, NobodyIsAnsweredBeforeTheClusterIsKnown) {
  world_.create("a", 2);
  world_.restart();
  EXPECT_NE(world_.scheduler->authority().waiting_for(), "");
  const auto outcome = world_.bind("a", "n1");
  EXPECT_TRUE(holds(*outcome, "is starting")) << *outcome;
  EXPECT_FALSE(
      world_.scheduler->placements().place(world_.request(world_.pod("a")), {}, false).ok());
  EXPECT_FALSE(world_.scheduler->placements().explain({"ns", "a"}).ok());
  world_.api.settle();
  EXPECT_EQ(world_.scheduler->authority().waiting_for(), "");
  EXPECT_EQ(world_.fit("a").size(), 2U);
}

}  // namespace
}  // namespace chipweave::sched::test
