// Events about gangs: on their owner objects, else on a pod.
#include "scheduler-plugin/kube/gangs/gang_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/manual_clock.hpp"

namespace chipweave::sched {
namespace {

class GangEventsTest : public testing::Test {
 protected:
  static GangRef gang(const std::string& name) {
    return {"team", "volcano", name, {"team", name + "-0"}, "uid-" + name};
  }
  std::vector<codec::KubeEvent> sent_;
  std::optional<codec::EventObject> owner_;
  ManualClock clock_;
  GangEvents events_{clock_,
                     "host",
                     {[this](const codec::KubeEvent& event) { sent_.push_back(event); },
                      [this](const GangRef&) { return owner_; }}};
};

TEST_F(GangEventsTest, AreAboutTheOwnerOrAPod) {
  events_.on(GangPlanned{gang("train"), "3f2a", 16, {1, 4, 16}, 370.0, {}});
  owner_ = codec::EventObject{"Job", "team", "train", "j1", "batch.volcano.sh/v1alpha1"};
  events_.on(GangReleased{gang("train"), "3f2a"});
  ASSERT_EQ(sent_.size(), 2U);
  EXPECT_EQ(sent_[0].about.kind + "/" + sent_[0].about.name + "/" + sent_[0].about.uid,
            "Pod/train-0/uid-train");
  EXPECT_EQ(sent_[0].reason, "GangPlanned");
  EXPECT_FALSE(sent_[0].warning);
  EXPECT_EQ(sent_[0].note,
            "16 pods have their places, in 1,4,16 domains of the levels of the network, coarsest "
            "first (plan 3f2a)");
  EXPECT_EQ(sent_[1].about.kind, "Job");
  EXPECT_EQ(sent_[1].about.api_version, "batch.volcano.sh/v1alpha1");
  EXPECT_TRUE(sent_[1].warning);
}

TEST_F(GangEventsTest, ReasonsThatChangeAllTheTimeAreToldNowAndThen) {
  events_.on(GangUnplaceable{gang("a"), "needs room for 40 pods; there is room for 3"});
  events_.on(GangUnplaceable{gang("a"), "needs room for 40 pods; there is room for 4"});
  events_.on(GangUnplaceable{gang("b"), "needs room for 2 pods"});
  EXPECT_EQ(sent_.size(), 2U);
  clock_.advance(GangEvents::kPause);
  events_.on(GangUnplaceable{gang("a"), "needs room for 40 pods; there is room for 5"});
  ASSERT_EQ(sent_.size(), 3U);
  EXPECT_EQ(sent_[2].note,
            "No plan: needs room for 40 pods; there is room for 5. Details: chipweave gangs "
            "team/a");
}

TEST_F(GangEventsTest, PodsThatDoNotCome) {
  events_.on(GangOverdue{gang("a"), 7, 8});
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].reason, "GangIncomplete");
  EXPECT_THAT(sent_[0].note, testing::StartsWith("7 of 8 pods"));
}

TEST_F(GangEventsTest, PreemptionIsToldToThePreemptorAndToItsVictims) {
  events_.on(GangPreempting{gang("big"), 3, 1, {{"team/one", false, 1}, {"team/two", true, 2}}});
  events_.on(GangPreempted{gang("two"), 2, "team/big"});
  events_.on(GangNotPreempting{gang("big"), "its pods keep changing", true});
  events_.on(GangNotPreempting{gang("other"), "there are no pods"});
  ASSERT_EQ(sent_.size(), 4U);
  EXPECT_EQ(sent_[0].reason, "GangPreempting");
  EXPECT_FALSE(sent_[0].warning);
  EXPECT_EQ(sent_[0].note,
            "3 pods of lower priority must end so that it fits: pod team/one, gang team/two (2 "
            "pods)");
  EXPECT_EQ(sent_[1].about.name, "two-0");
  EXPECT_EQ(sent_[1].reason, "GangPreempted");
  EXPECT_TRUE(sent_[1].warning);
  EXPECT_EQ(sent_[1].note,
            "Its pods end so that gang team/big, which has a higher priority, fits: 2 pods");
  EXPECT_EQ(sent_[2].reason, "GangNotPreempting");
  EXPECT_EQ(
      sent_[2].note,
      "No more pods end for it, and what was kept for it is given up: its pods keep changing");
  EXPECT_EQ(sent_[3].note, "No pods end for it: there are no pods");
}

TEST_F(GangEventsTest, ANoteNamesSoManyVictims) {
  GangPreempting many{gang("big"), 0, 0, {}};
  for (int i = 0; i < 10; ++i) many.victims.push_back({"team/" + std::to_string(i), false, 1});
  many.pods = many.victims.size();
  events_.on(many);
  EXPECT_THAT(sent_.at(0).note, testing::EndsWith("pod team/7, 2 more"));
}

}  // namespace
}  // namespace chipweave::sched
