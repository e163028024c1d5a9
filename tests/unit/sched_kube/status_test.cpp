// What kube-scheduler writes into the status of pods that wait.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

using Names = std::vector<std::string>;

class Status : public ::testing::Test {
 protected:
  void SetUp() override {
    w_.add_node("n1", "hgx-v100-8");
    w_.api.settle();
  }
  void create_member(const std::string& name, int chips) {
    ServerPod pod;
    pod.ns = "ns";
    pod.name = name;
    pod.resource = "nvidia.com/gpu";
    pod.chips = chips;
    pod.gang = "train";
    w_.api.create(std::move(pod));
    w_.api.settle();
  }
  void create(const std::string& name, int chips, int priority = 0) {
    w_.create(name, chips, "nvidia.com/gpu", {}, priority);
    w_.api.settle();
  }
  // kube-scheduler reports that it could not place the pod.
  void reject(const std::string& name, const std::string& message,
              const std::string& nominated = {}) {
    w_.api.reject("ns/" + name, message, nominated);
    w_.api.settle();
  }
  KubeWorld w_;
};

TEST_F(Status, AMemberThatIsUnschedulableEndsTheAttemptOfItsGang) {
  create_member("a", 4);
  create_member("b", 4);
  create("other", 8);
  ASSERT_EQ(w_.fit("a"), Names{"n1"});
  ASSERT_EQ(w_.fit("b"), Names{"n1"});
  EXPECT_EQ(w_.fit("other"), Names{}) << "the attempt may still be bound";
  reject("a", "0/1 nodes: not enough cpu");
  EXPECT_EQ(w_.fit("other"), Names{"n1"});
  EXPECT_EQ(w_.held("other").size(), 8U);
}

// KAI's pod grouper does that.
TEST_F(Status, TheMarkOfAGangMayComeAfterThePod) {
  const auto mark = [&] { return w_.kubernetes->cluster().find({"ns", "a"})->request.mark; };
  create("a", 1);
  EXPECT_EQ(mark(), nullptr);
  w_.api.annotate("ns/a", "pod-group-name", "pg");
  w_.api.settle();
  ASSERT_NE(mark(), nullptr);
  EXPECT_EQ(mark()->framework + " " + mark()->name, "kai pg");
}

TEST_F(Status, ThatDoesNotChangeEndsNothing) {
  create_member("a", 4);
  reject("a", "0/1 nodes: not enough cpu");
  create("other", 8);
  ASSERT_EQ(w_.fit("a"), Names{"n1"});
  w_.api.annotate("ns/a", "somebody", "wrote this");
  w_.api.settle();
  EXPECT_EQ(w_.fit("other"), Names{});
  reject("a", "0/1 nodes: not enough memory");
  EXPECT_EQ(w_.fit("other"), Names{"n1"});
}

class NominatedByStatus : public Status {
 protected:
  void SetUp() override {
    Status::SetUp();
    create("victim", 8);
    bind("victim");
    create("high", 6, 10);
    ASSERT_EQ(w_.fit("high"), Names{});
    const std::vector<ProposedVictims> proposed{{"n1", {}}};
    auto victims =
        w_.scheduler->preemption().choose_victims(w_.request(w_.pod("high")), 10, proposed);
    ASSERT_EQ(victims.at(0), Names{w_.pod("victim").uid});
    w_.scheduler->nominations().proposed(w_.pod("high").uid, {{"n1", victims.at(0)}});
  }
  void bind(const std::string& name) {
    const auto outcome = w_.bind(name, "n1");
    w_.api.settle();
    ASSERT_EQ(*outcome, "bound");
  }
};

// Between the eviction and the return of the preemptor.
TEST_F(NominatedByStatus, ItsChipsAreNotForALowerPriority) {
  reject("high", "0/1 nodes: preempting", "n1");
  w_.api.begin_end("ns/victim");
  w_.api.settle();
  create("low", 4);
  EXPECT_EQ(w_.fit("low"), Names{});
  w_.api.remove("ns/victim");
  w_.api.settle();
  EXPECT_EQ(w_.fit("low"), Names{}) << "two chips are free beside the six";
  create("small", 2);
  EXPECT_EQ(w_.fit("small"), Names{"n1"});
  EXPECT_EQ(w_.fit("high"), Names{"n1"});
  bind("high");
  bind("small");
  EXPECT_EQ(w_.annotated("high").size(), 6U);
  w_.expect_no_chip_twice();
  EXPECT_EQ(w_.scheduler->check_invariants(), "");
}

TEST_F(NominatedByStatus, AClearedNominationKeepsNothing) {
  reject("high", "0/1 nodes: preempting", "n1");
  w_.api.remove("ns/victim");
  w_.api.settle();
  create("low", 4);
  EXPECT_EQ(w_.fit("low"), Names{});
  reject("high", "0/1 nodes: not enough cpu");
  EXPECT_EQ(w_.fit("low"), Names{"n1"});
}

// The next process has not been asked for victims; that they are being deleted is enough.
TEST_F(NominatedByStatus, IsKnownAfterARestart) {
  reject("high", "0/1 nodes: preempting", "n1");
  w_.api.begin_end("ns/victim");
  w_.restart();
  w_.api.settle();
  w_.pass(std::chrono::seconds(1));
  w_.api.remove("ns/victim");
  w_.api.settle();
  create("low", 4);
  EXPECT_EQ(w_.fit("low"), Names{});
  EXPECT_EQ(w_.held("high").size(), 6U);
}

}  // namespace
}  // namespace chipweave::sched::test
