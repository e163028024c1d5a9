#include "node-agent/publish/report_plan.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/fakes/agent/machines.hpp"

namespace chipweave::agent {
namespace {

NodeStatePtr with_faulty_chip(int index) {
  auto out = with_faults(ring_of_four(), {{domain::ChipIndex{index}}, {}, {}});
  EXPECT_TRUE(out.ok());
  return state_of(std::move(out).value());
}

// A plan whose full report has been accepted.
ReportPlan settled() {
  ReportPlan plan;
  plan.want(state_of(ring_of_four()));
  plan.opened();
  EXPECT_TRUE(plan.next().has_value());
  plan.acked(Answer::accepted);
  return plan;
}

TEST(ReportPlan, SendsNothingWhileClosed) {
  ReportPlan plan;
  plan.want(state_of(ring_of_four()));
  plan.heartbeat_due();
  EXPECT_FALSE(plan.next());
}

TEST(ReportPlan, BeginsWithAFullReportAndWaitsForItsAck) {
  ReportPlan plan;
  plan.want(state_of(ring_of_four()));
  plan.opened();
  const auto first = plan.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, ReportKind::full);
  EXPECT_EQ(first->sequence, 1U);
  plan.want(with_faulty_chip(1));
  EXPECT_FALSE(plan.next());
  EXPECT_TRUE(plan.acked(Answer::accepted));
  const auto second = plan.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->kind, ReportKind::delta);
  EXPECT_EQ(second->sequence, 2U);
  ASSERT_EQ(second->delta.chips.size(), 1U);
  EXPECT_EQ(second->delta.chips[0].chip.value, 1);
}

TEST(ReportPlan, MergesChangesThatComeFasterThanAcks) {
  ReportPlan plan = settled();
  plan.want(with_faulty_chip(1));
  ASSERT_TRUE(plan.next());
  plan.want(with_faulty_chip(2));
  plan.want(with_faulty_chip(3));
  plan.acked(Answer::accepted);
  const auto next = plan.next();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->delta.chips,
            (std::vector<ChipChange>{{domain::ChipIndex{1}, domain::Health::healthy},
                                     {domain::ChipIndex{3}, domain::Health::unhealthy}}));
}

TEST(ReportPlan, AChangeAndItsUndoingNeedNoReport) {
  ReportPlan plan = settled();
  plan.want(state_of(ring_of_four()));
  EXPECT_FALSE(plan.next());
}

TEST(ReportPlan, BeatsOnlyWhenDueAndOnce) {
  ReportPlan plan = settled();
  EXPECT_FALSE(plan.next());
  plan.heartbeat_due();
  const auto beat = plan.next();
  ASSERT_TRUE(beat);
  EXPECT_EQ(beat->kind, ReportKind::heartbeat);
  plan.acked(Answer::accepted);
  EXPECT_FALSE(plan.next());
}

TEST(ReportPlan, NeedsFullIsAnsweredWithAFullReport) {
  ReportPlan plan = settled();
  plan.heartbeat_due();
  ASSERT_TRUE(plan.next());
  plan.acked(Answer::needs_full);
  const auto next = plan.next();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->kind, ReportKind::full);
}

TEST(ReportPlan, ANewStreamStartsAfreshWithRisingSequence) {
  ReportPlan plan = settled();
  plan.closed();
  EXPECT_FALSE(plan.next());
  plan.opened();
  const auto next = plan.next();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->kind, ReportKind::full);
  EXPECT_EQ(next->sequence, 2U);
}

TEST(ReportPlan, ARefusedReportWaitsForTheNextBeatOrAChange) {
  ReportPlan plan;
  plan.want(state_of(ring_of_four()));
  plan.opened();
  ASSERT_TRUE(plan.next());
  plan.acked(Answer::refused);
  EXPECT_FALSE(plan.next());
  plan.heartbeat_due();
  auto again = plan.next();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->kind, ReportKind::full);
  plan.acked(Answer::refused);
  plan.want(with_faulty_chip(0));
  again = plan.next();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->kind, ReportKind::full);
}

TEST(ReportPlan, AnOlderAnswerStopsReportsButNotBeats) {
  ReportPlan plan;
  plan.want(state_of(ring_of_four()));
  plan.opened();
  ASSERT_TRUE(plan.next());
  plan.acked(Answer::older);
  EXPECT_FALSE(plan.next());
  plan.heartbeat_due();
  const auto beat = plan.next();
  ASSERT_TRUE(beat);
  EXPECT_EQ(beat->kind, ReportKind::heartbeat);
}

TEST(ReportPlan, AnAckThatNobodyWaitsForIsNoNews) {
  ReportPlan plan = settled();
  EXPECT_FALSE(plan.acked(Answer::needs_full));
  EXPECT_FALSE(plan.next());
}

}  // namespace
}  // namespace chipweave::agent
