// What is reported of gangs that end other pods, and of their victims.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler-plugin/app/gangs/preemption/gang_preemption.hpp"
#include "tests/unit/sched/preempting_world.hpp"

namespace chipweave::sched::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// What is reported of preemption.
struct Reports final : Observer {
  void on(const Observation& seen) override {
    std::visit(ByKind{[this](const GangPreempting& gang) { begun.push_back(gang); },
                      [this](const PodPreempted& pod) { pods.push_back(pod.pod.name); },
                      [this](const GangPreempted& gang) { victims.push_back(gang); },
                      [this](const GangNotPreempting& gang) { given_up.push_back(gang); },
                      [](const auto&) {}},
               seen);
  }
  std::vector<GangPreempting> begun;
  std::vector<std::string> pods;
  std::vector<GangPreempted> victims;
  std::vector<GangNotPreempting> given_up;
};

// A gang of two pods and a single one are to end for the gang train.
void begin(PreemptingWorld& w, Reports& reports) {
  w.observer.add(reports);
  w.nodes(3);
  w.running_gang("victims", 2, 1);
  w.running("single", "n2", 1);
  w.gang_of("train", 3, 9);
  w.settle();
}

TEST(PreemptionReports, WhoEndsForWhomIsReported) {
  PreemptingWorld w;
  Reports reports;
  begin(w, reports);
  ASSERT_THAT(reports.begun, SizeIs(1));
  EXPECT_EQ(reports.begun[0].gang.text(), "ns/train");
  EXPECT_EQ(reports.begun[0].pods, 3U);
  EXPECT_EQ(reports.begun[0].gangs, 1U);
  ASSERT_THAT(reports.begun[0].victims, SizeIs(2));
  EXPECT_EQ(reports.begun[0].victims[0].name, "ns/single");
  EXPECT_FALSE(reports.begun[0].victims[0].gang);
  EXPECT_EQ(reports.begun[0].victims[1].name, "ns/victims");
  EXPECT_EQ(reports.begun[0].victims[1].pods, 2U);
  EXPECT_THAT(reports.victims, IsEmpty()) << "as long as the API server has accepted nothing";
  w.accept();
  ASSERT_THAT(reports.victims, SizeIs(1)) << "once, although two of its pods end";
  EXPECT_EQ(reports.victims[0].gang.text(), "ns/victims");
  EXPECT_EQ(reports.victims[0].gang.framework, "chipweave");
  EXPECT_EQ(reports.victims[0].pods, 2U);
  EXPECT_EQ(reports.victims[0].by, "ns/train");
  EXPECT_THAT(reports.given_up, IsEmpty());
  w.clock.advance(GangPreemption::kLifetime);
  w.keep_reporting();
  w.settle();
  ASSERT_THAT(reports.given_up, SizeIs(1));
  EXPECT_TRUE(reports.given_up[0].begun);
  EXPECT_THAT(reports.given_up[0].why, HasSubstr("have ended in time"));
}

// A pod without a grace period is gone before the answer to its eviction is read; with the last of
// them the gang has its plan.
TEST(PreemptionReports, AnEvictionThatIsAnsweredAfterThePlanIsReported) {
  PreemptingWorld w;
  Reports reports;
  begin(w, reports);
  auto asked = std::exchange(w.evictions.requests, {});
  ASSERT_THAT(asked, SizeIs(3));
  for (const auto& one : asked) w.gone(one.pod.name);
  w.settle();
  ASSERT_NE(w.scheduler.gang_plans().all().size(), 0U);
  ASSERT_THAT(reports.pods, IsEmpty());
  for (auto& one : asked) one.done({});
  EXPECT_THAT(reports.pods, UnorderedElementsAre("single", "victims-0", "victims-1"));
  ASSERT_THAT(reports.victims, SizeIs(1));
  EXPECT_EQ(reports.victims[0].pods, 2U);
  EXPECT_EQ(reports.victims[0].by, "ns/train");
  w.expect_sound();
}

TEST(PreemptionReports, ThatNobodyEndsIsReportedOnce) {
  PreemptingWorld w;
  Reports reports;
  w.observer.add(reports);
  w.nodes(2);
  w.running("same", "n0", 9);
  w.running("higher", "n1", 10);
  w.gang_of("train", 2, 9);
  w.settle();
  for (int i = 0; i < 3; ++i) {
    w.clock.advance(GangPreemption::kRest);
    w.keep_reporting();
    w.submit("small-" + std::to_string(i), 1);
    w.settle();
  }
  ASSERT_THAT(reports.given_up, SizeIs(1));
  EXPECT_FALSE(reports.given_up[0].begun);
  EXPECT_THAT(reports.begun, IsEmpty());
}

}  // namespace
}  // namespace chipweave::sched::test
