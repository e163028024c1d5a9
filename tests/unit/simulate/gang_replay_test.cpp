#include "common/solver/simulate/gangs/gang_replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <utility>

#include "common/solver/simulate/gangs/gang_arrivals.hpp"
#include "common/solver/simulate/gangs/gang_spread.hpp"
#include "common/solver/simulate/gangs/gang_summary.hpp"
#include "tests/unit/simulate/small_fabric.hpp"

namespace chipweave::simulate {
namespace {

using domain::TraceGang;
using test::fabric;
using test::gang;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::vector<std::pair<std::size_t, double>> starts(const GangReplayed& run) {
  std::vector<std::pair<std::size_t, double>> out;
  for (const GangRun& one : run.runs) out.emplace_back(one.gang, one.start_s);
  return out;
}

GangReplayed replayed(const std::vector<TraceGang>& gangs, const solver::Fabric& cluster,
                      double patience_s = 0, const char* by = "chipweave") {
  const auto placer = test::placer(by);
  return test::replayed(gangs, cluster, *placer, patience_s).value();
}

// Two nodes of 8 chips. A takes one of them for 10 s, B needs both, C would fit beside A.
const std::vector<TraceGang> kBlocked = {gang(1, 8, 0, 10), gang(2, 8, 1, 5), gang(1, 8, 2, 3)};

TEST(GangReplay, StrictlyFirstComeFirstServed) {
  const GangReplayed run = replayed(kBlocked, fabric(1, 1, 2));
  EXPECT_THAT(starts(run), ElementsAre(Pair(0, 0), Pair(1, 10), Pair(2, 15)));
  EXPECT_DOUBLE_EQ(run.end_s, 18);
  // Half of the chips for 10 s, all for 5 s, half for 3 s.
  EXPECT_DOUBLE_EQ(run.used_until_end, (5 + 5 + 1.5) / 18);
  EXPECT_DOUBLE_EQ(run.used_until_last_arrival, 0.5);
  EXPECT_EQ(run.most_waiting, 2U);
  // Also what comes at the same moment.
  EXPECT_THAT(
      starts(replayed({gang(1, 8, 0, 10), gang(2, 8, 1, 5), gang(1, 8, 1, 3)}, fabric(1, 1, 2))),
      ElementsAre(Pair(0, 0), Pair(1, 10), Pair(2, 15)));
}

TEST(GangReplay, LaterGangsGoFirstUntilPatienceEnds) {
  // C comes when B has waited for one second, D when it has waited for six.
  std::vector<TraceGang> gangs = kBlocked;
  gangs.push_back(gang(1, 8, 7, 1));
  EXPECT_THAT(starts(replayed(gangs, fabric(1, 1, 2), 5)),
              ElementsAre(Pair(0, 0), Pair(2, 2), Pair(1, 10), Pair(3, 15)));
  EXPECT_THAT(starts(replayed(gangs, fabric(1, 1, 2), std::numeric_limits<double>::infinity())),
              ElementsAre(Pair(0, 0), Pair(2, 2), Pair(3, 7), Pair(1, 10)));
}

TEST(GangReplay, HigherPriorityGoesFirstAndWaitsForNobodyBelow) {
  std::vector<TraceGang> gangs = {gang(2, 8, 0, 10), gang(1, 8, 1, 4), gang(2, 8, 2, 5),
                                  gang(1, 8, 3, 4)};
  gangs[2].priority = 7;
  gangs[3].priority = std::numeric_limits<int>::min();
  EXPECT_THAT(starts(replayed(gangs, fabric(1, 1, 2))),
              ElementsAre(Pair(0, 0), Pair(2, 10), Pair(1, 15), Pair(3, 15)));
}

TEST(GangReplay, WhatEndsMakesRoomAtTheSameMoment) {
  const GangReplayed run =
      replayed({gang(2, 8, 0, 4), gang(2, 8, 4, 0), gang(2, 8, 4, 1)}, fabric(1, 1, 2));
  EXPECT_THAT(starts(run), ElementsAre(Pair(0, 0), Pair(1, 4), Pair(2, 4)));
  EXPECT_EQ(summary_of({gang(2, 8, 0, 4), gang(2, 8, 4, 0), gang(2, 8, 4, 1)}, run).waited, 0U);
}

TEST(GangReplay, WhatFitsNowhereDoesNotBlock) {
  std::vector<TraceGang> gangs = {gang(5, 8, 0, 1), gang(1, 9, 0, 1), gang(3, 8, 0, 1),
                                  gang(4, 8, 0, 1)};
  gangs[2].required_level = 1;
  const GangReplayed run = replayed(gangs, fabric(1, 2, 2));
  EXPECT_THAT(run.never_fit, ElementsAre(0, 1, 2));
  EXPECT_THAT(starts(run), ElementsAre(Pair(3, 0)));
}

TEST(GangReplay, WhatAPlacerRefusesOnTheEmptyClusterDoesNotBlock) {
  class Refuses : public GangPlacer {
    Result<std::optional<GangSeats>> place(const solver::Fabric&, const TraceGang& one) override {
      if (one.pods == 2) return std::optional<GangSeats>();
      return std::optional(GangSeats(static_cast<std::size_t>(one.pods), 0));
    }
  } placer;
  const auto run = test::replayed({gang(1, 8, 0, 3), gang(2, 8, 1, 1), gang(1, 8, 2, 1)},
                                  fabric(1, 1, 2), placer)
                       .value();
  EXPECT_THAT(run.refused, ElementsAre(1));
  EXPECT_THAT(starts(run), ElementsAre(Pair(0, 0), Pair(2, 3)));
}

TEST(GangReplay, RefusesPlacesThatAreNone) {
  class Answers : public GangPlacer {
   public:
    explicit Answers(GangSeats seats) : seats_(std::move(seats)) {}
    Result<std::optional<GangSeats>> place(const solver::Fabric&, const TraceGang&) override {
      return std::optional(seats_);
    }

   private:
    GangSeats seats_;
  };
  TraceGang two = gang(2, 8);
  two.required_level = 1;
  const auto complaint = [&two](GangSeats seats) {
    Answers placer(std::move(seats));
    const auto run = test::replayed({two}, fabric(1, 2, 2), placer);
    return run ? "" : run.error().text();
  };
  EXPECT_EQ(complaint({0, 1}), "");
  EXPECT_THAT(complaint({0}), HasSubstr("\"2x8\" has 1 of 2 pods"));
  EXPECT_THAT(complaint({0, 0}), HasSubstr("2 pods of 8 chips on b0-r0-n0, which has no room"));
  EXPECT_THAT(complaint({0, 99}), HasSubstr("on no node"));
  EXPECT_THAT(complaint({0, 2}), HasSubstr("not inside one domain of its required level"));
}

TEST(GangReplay, ErrorsOfThePlacerEndIt) {
  class Fails : public GangPlacer {
    Result<std::optional<GangSeats>> place(const solver::Fabric&, const TraceGang&) override {
      return make_error(Errc::deadline, "no answer");
    }
  } placer;
  const auto run = test::replayed({gang(1, 1)}, fabric(1, 1, 1), placer);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().code, Errc::deadline);
}

TEST(GangReplay, UnhealthyNodesAndThoseThatTakeNoMorePodsStayEmpty) {
  solver::Fabric cluster = fabric(1, 1, 4);
  cluster.set_healthy(0, false);
  cluster.set_max_pods(1, 1);
  EXPECT_EQ(free_chips(cluster), 24);
  for (const char* by : {"best-fit", "fullest-domain", "chipweave"}) {
    const auto inner = test::placer(by);
    test::Recorder placer(*inner);
    // The second runs when the first has given the pods of node 1 back.
    const auto run =
        test::replayed({gang(5, 4, 0, 2), gang(5, 4, 1, 2), gang(6, 4, 9, 1)}, cluster, placer)
            .value();
    EXPECT_THAT(starts(run), ElementsAre(Pair(0, 0), Pair(1, 2)));
    EXPECT_THAT(run.never_fit, ElementsAre(2));
    for (const GangSeats& seats : placer.started)
      EXPECT_THAT(seats, testing::UnorderedElementsAre(1, 2, 2, 3, 3)) << by;
  }
}

TEST(GangReplay, APlacerIsNotAskedAgainBeforeSomethingIsFreed) {
  class Picky : public GangPlacer {
   public:
    int asked = 0;

   private:
    Result<std::optional<GangSeats>> place(const solver::Fabric& on,
                                           const TraceGang& one) override {
      ++asked;
      if (on.node(0).free < 8) return std::optional<GangSeats>();
      return std::optional(GangSeats(static_cast<std::size_t>(one.pods), 0));
    }
  } placer;
  // The second is refused at 1, not asked about at 2 and 3, when others come, and starts at 10.
  (void)test::replayed({gang(1, 1, 0, 10), gang(1, 2, 1, 1), gang(1, 3, 2, 1), gang(1, 4, 3, 1)},
                       fabric(1, 1, 1), placer)
      .value();
  EXPECT_EQ(placer.asked, 1 + 2 + 1 + 1 + 2);
}

TEST(GangReplay, CallsClockAndProgress) {
  const std::vector<TraceGang> gangs{gang(1, 8, 0, 1), gang(9, 8, 0, 1), gang(1, 8, 5, 1)};
  const solver::Fabric cluster = fabric(1, 1, 1);
  const auto alone = alone_gangs(gangs, cluster, test::kLevels);
  std::uint64_t now = 0;
  std::vector<std::size_t> done;
  GangReplayOptions options;
  options.clock_ns = [&now] { return now += 7; };
  options.progress = [&done](std::size_t n) { done.push_back(n); };
  const auto placer = test::placer("chipweave");
  const auto run = replay_gangs({gangs, alone, cluster}, *placer, options).value();
  EXPECT_EQ(run.decision_ns, (std::vector<std::uint64_t>{7, 7}));
  EXPECT_THAT(done, ElementsAre(2, 2, 3, 3));
  EXPECT_EQ(run.samples.size(), 5U);
  EXPECT_DOUBLE_EQ(run.samples[1].used, 1);
}

TEST(GangReplay, CountsDomainsAndCrossingsAgainstTheirBounds) {
  // Node 0 is taken, so that 4 pods need two racks, which they do not on the empty cluster.
  const std::vector<TraceGang> gangs = {gang(1, 8, 0, 9), gang(4, 8, 1, 1)};
  const GangReplayed run = replayed(gangs, fabric(1, 2, 4, 8), 0, "best-fit");
  ASSERT_EQ(run.levels.size(), 2U);
  EXPECT_EQ(run.levels[0].domains, 2);
  EXPECT_EQ(run.levels[0].crossings, 0);
  EXPECT_EQ(run.levels[1].domains, 1 + 2);
  EXPECT_EQ(run.levels[1].crossings, 2);
  EXPECT_EQ(run.levels[1].fewest, 1 + 1);  // the second rack is empty
  EXPECT_EQ(run.levels[1].alone, 1 + 1);
  const GangReplayed planned = replayed(gangs, fabric(1, 2, 4, 8));
  EXPECT_EQ(planned.levels[1].domains, 2);
  EXPECT_EQ(planned.levels[1].crossings, 0);
}

// What holds for every replay, with any placer.
void expect_sound(const std::vector<TraceGang>& gangs, const solver::Fabric& cluster,
                  const GangReplayed& run, const std::vector<GangSeats>& seats) {
  ASSERT_EQ(run.runs.size(), seats.size());
  EXPECT_EQ(run.runs.size() + run.never_fit.size(), gangs.size());
  EXPECT_TRUE(run.refused.empty());
  std::multimap<std::pair<double, int>, std::pair<solver::FabricNodeId, int>> changes;
  double chip_seconds = 0;
  for (std::size_t i = 0; i < seats.size(); ++i) {
    const TraceGang& one = gangs[run.runs[i].gang];
    const double start = run.runs[i].start_s;
    EXPECT_GE(start, one.arrival_s);
    EXPECT_EQ(seats[i].size(), static_cast<std::size_t>(one.pods));
    for (const auto node : seats[i]) {
      EXPECT_EQ(cluster.domain_of(node, one.required_level),
                cluster.domain_of(seats[i].front(), one.required_level));
      changes.emplace(std::pair(start, 1), std::pair(node, one.chips));
      changes.emplace(std::pair(start + one.duration_s, 0), std::pair(node, -one.chips));
    }
    chip_seconds += static_cast<double>(one.all_chips()) * one.duration_s;
  }
  std::map<solver::FabricNodeId, int> used;
  for (const auto& [when, change] : changes)
    EXPECT_LE(used[change.first] += change.second, cluster.node(change.first).free);
  const auto chips = static_cast<double>(free_chips(cluster));
  EXPECT_NEAR(run.used_until_end * run.end_s * chips, chip_seconds, 1e-6 * chip_seconds);
  for (const LevelSpread& level : run.levels) {
    EXPECT_GE(level.domains, level.fewest);
    EXPECT_GE(level.fewest, level.alone == 0 ? 0 : 1);
  }
}

TEST(GangReplay, NoChipTwiceAllChipSecondsAndWholeGangs) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    RandomNumbers random(seed);
    const solver::Fabric cluster = fabric(2, 3, 4);
    std::vector<TraceGang> gangs =
        drawn_gangs({seed % 2 == 0 ? GangSizes::powers_of_two : GangSizes::log_uniform, 1, 128, 8},
                    150, random);
    for (TraceGang& one : gangs) {
      one.required_level = static_cast<int>(random.below(3)) - 1;
      one.preferred_level = static_cast<int>(random.below(3)) - 1;
      one.priority = static_cast<int>(random.below(2));
    }
    draw_durations(gangs, 100, random);
    draw_arrivals(gangs, gap_of_load(gangs, 1.1, free_chips(cluster)), random);
    const double patience = std::vector<double>{0, 50, 1e9}[seed % 3];
    for (const char* by : {"best-fit", "fullest-domain", "chipweave"}) {
      const auto inner = test::placer(by);
      test::Recorder placer(*inner);
      const auto run = test::replayed(gangs, cluster, placer, patience).value();
      expect_sound(gangs, cluster, run, placer.started);
    }
  }
}

TEST(GangSummary, WaitsBySize) {
  const std::vector<TraceGang> gangs = {gang(1, 8, 0, 10), gang(2, 8, 1, 5), gang(1, 5, 2, 3),
                                        gang(9, 8, 3, 1)};
  const GangSummary s = summary_of(gangs, replayed(gangs, fabric(1, 1, 2)));
  EXPECT_EQ(s.arrived, 4U);
  EXPECT_EQ(s.started, 3U);
  EXPECT_EQ(s.never_fit, 1U);
  EXPECT_EQ(s.waited, 2U);
  EXPECT_DOUBLE_EQ(s.wait_s.mean, (0 + 9 + 13) / 3.0);
  EXPECT_DOUBLE_EQ(s.wait_s.most, 13);
  ASSERT_EQ(s.sizes.size(), 3U);
  EXPECT_EQ(s.sizes[0].chips, 8);  // of 8 and of 5 chips
  EXPECT_EQ(s.sizes[0].arrived, 2U);
  EXPECT_DOUBLE_EQ(s.sizes[0].wait_s.mean, 6.5);
  EXPECT_EQ(s.sizes[1].chips, 16);
  EXPECT_EQ(s.sizes[2].chips, 128);
  EXPECT_EQ(s.sizes[2].started, 0U);
}

}  // namespace
}  // namespace chipweave::simulate
