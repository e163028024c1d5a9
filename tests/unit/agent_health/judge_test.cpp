#include "node-agent/app/health/health_judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/agent/machines.hpp"
#include "tests/support/manual_clock.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::Effect;
using domain::Fault;
using domain::HealthPolicy;
using domain::HealthRule;
using domain::Observation;
using domain::Recovery;
using domain::Signal;
using domain::SignalKind;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

HealthRule rule(const std::string& code, Effect effect, double hold,
                Recovery recovery = Recovery::quiet) {
  HealthRule out;
  out.code = code;
  out.effect = effect;
  out.hold = hold;
  out.recovery = recovery;
  return out;
}

HealthPolicy policy() {
  HealthPolicy out;
  HealthRule crc = rule("nvlink.crc", Effect::link, 30);
  crc.rise = 100;
  crc.window = 60;
  HealthRule hot = rule("temperature", Effect::network, 5);
  hot.at_least = 90;
  HealthRule slow = rule("slow.*", Effect::unusable, 10);
  slow.after = 30;
  out.rules = {rule("xid.13", Effect::note, 10),
               rule("xid.79", Effect::unusable, 0, Recovery::reset),
               rule("xid.*", Effect::unusable, 300),
               crc,
               hot,
               rule("ras.*.ue", Effect::unusable, 0, Recovery::reset),
               rule("hccn.link-down", Effect::network, 10),
               slow};
  return out;
}

struct Judge : testing::Test {
  ManualClock clock;
  HealthJudge judge{policy(), clock};
  Observation seen{"box", ring_of_four(), {}};

  void observe() { judge.observe(seen); }
  // These events, and an observation with these other signals and no more.
  void say(std::vector<Signal> signals) {
    std::vector<Signal> events;
    seen.signals.clear();
    for (Signal& signal : signals) {
      (signal.kind == SignalKind::event ? events : seen.signals).push_back(std::move(signal));
    }
    judge.occurred(events);
    observe();
  }
  static Signal state(const std::string& code, int chip) {
    return {SignalKind::state, code, ChipIndex{chip}, std::nullopt, "", 0, ""};
  }
  static Signal event(const std::string& code, int chip) {
    return {SignalKind::event, code, ChipIndex{chip}, std::nullopt, "", 0, ""};
  }
  static Signal count(const std::string& code, int chip, double value) {
    return {SignalKind::counter, code, ChipIndex{chip}, std::nullopt, "", value, ""};
  }
  static Signal crc(int port, double value) {
    return {SignalKind::counter, "nvlink.crc", ChipIndex{0}, port, "", value, ""};
  }
  std::vector<std::string> codes() {
    std::vector<std::string> out;
    for (const Fault& fault : judge.judge()) out.push_back(fault.code);
    return out;
  }
  // As the agent does: one observation every half second.
  void live(milliseconds time) {
    for (milliseconds passed{0}; passed < time; passed += milliseconds(500)) {
      clock.advance(milliseconds(500));
      judge.judge();
    }
  }
};

TEST_F(Judge, NoSignalsMeanNoFaults) {
  observe();
  EXPECT_THAT(judge.judge(), IsEmpty());
}

TEST_F(Judge, AStateHoldsAtOnceAndForATimeAfterItIsGone) {
  say({state("hccn.link-down", 2)});
  const auto faults = judge.judge();
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].effect, Effect::network);
  EXPECT_EQ(faults[0].chip, ChipIndex{2});
  EXPECT_EQ(faults[0].since, 1767323045000);
  EXPECT_EQ(faults[0].held_until, 0);
  live(seconds(100));
  EXPECT_THAT(codes(), ElementsAre("hccn.link-down"));
  say({});
  live(milliseconds(9'500));
  const auto held = judge.judge();
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(held[0].since, faults[0].since);
  EXPECT_EQ(held[0].held_until, 1767323045000 + 110'000);
  live(milliseconds(500));
  EXPECT_THAT(judge.judge(), IsEmpty());
}

TEST_F(Judge, WithAfterItIsANoteUntilItHasLasted) {
  say({state("slow.gone", 2)});
  auto faults = judge.judge();
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].effect, Effect::note);
  const auto since = faults[0].since;
  live(milliseconds(29'500));
  EXPECT_EQ(judge.judge()[0].effect, Effect::note);
  live(milliseconds(500));
  faults = judge.judge();
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].effect, Effect::unusable);
  EXPECT_EQ(faults[0].since, since);
  say({});
  live(seconds(9));
  EXPECT_EQ(judge.judge()[0].effect, Effect::unusable);
  live(seconds(2));
  EXPECT_THAT(judge.judge(), IsEmpty());
}

TEST_F(Judge, WithAfterNothingIsHeldOfWhatEndsBefore) {
  for (int i = 0; i < 5; ++i) {
    say({state("slow.gone", 2)});
    live(seconds(20));
    ASSERT_EQ(codes(), (std::vector<std::string>{"slow.gone"}));
    say({});
    EXPECT_THAT(judge.judge(), IsEmpty());
    live(seconds(1));
  }
}

TEST_F(Judge, AfterIsNotForEvents) {
  say({event("slow.event", 1)});
  const auto faults = judge.judge();
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].effect, Effect::unusable);
}

TEST_F(Judge, TroubleCountsFromItsBeginWhateverItIsCalled) {
  observe();
  const auto begin = clock.now();
  judge.trouble(HealthJudge::Trouble{"slow.stuck", "no answer", begin});
  EXPECT_EQ(judge.judge()[0].effect, Effect::note);
  live(seconds(29));
  observe();  // an observation that was in flight
  judge.trouble(HealthJudge::Trouble{"slow.crashed", "signal 11", begin});
  ASSERT_EQ(codes(), std::vector<std::string>{"slow.crashed"});
  EXPECT_EQ(judge.judge()[0].effect, Effect::note);
  live(seconds(1));
  ASSERT_EQ(judge.judge().size(), 1U);
  EXPECT_EQ(judge.judge()[0].effect, Effect::unusable);
  EXPECT_EQ(judge.judge()[0].text, "signal 11");
  judge.trouble(std::nullopt);
  live(seconds(11));
  EXPECT_THAT(judge.judge(), IsEmpty());
}

TEST_F(Judge, TheFirstRuleThatMatchesCounts) {
  say({event("xid.13", 0), event("xid.48", 1), event("unheard-of", 2)});
  const auto faults = judge.judge();
  ASSERT_EQ(faults.size(), 3U);
  EXPECT_EQ(faults[0].code, "xid.48");
  EXPECT_EQ(faults[0].effect, Effect::unusable);
  EXPECT_EQ(faults[1].code, "xid.13");
  EXPECT_EQ(faults[1].effect, Effect::note);
  EXPECT_EQ(faults[2].code, "unheard-of");
  EXPECT_EQ(faults[2].effect, Effect::note);
}

TEST_F(Judge, AnEventIsHeldFromItsLastTime) {
  say({event("xid.48", 1)});
  live(seconds(200));
  say({event("xid.48", 1)});
  say({});
  live(milliseconds(299'500));
  EXPECT_THAT(codes(), ElementsAre("xid.48"));
  live(milliseconds(500));
  EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(Judge, WhatNeedsAResetWaitsForIt) {
  say({event("xid.79", 1), event("xid.79", 2)});
  say({});
  clock.advance(seconds(100'000));
  EXPECT_EQ(judge.judge().size(), 2U);
  EXPECT_EQ(judge.judge()[0].held_until, -1);
  say({event("nvml.reset", 1)});
  const auto faults = judge.judge();
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_EQ(faults[0].chip, ChipIndex{2});
  EXPECT_EQ(faults[1].code, "nvml.reset");
}

TEST_F(Judge, AResetDoesNotEndWhatComesWithIt) {
  say({event("xid.79", 1)});
  say({event("nvml.reset", 1), event("xid.79", 1)});
  EXPECT_THAT(codes(), ElementsAre("xid.79", "nvml.reset"));
}

// The counters of a chip cannot be read during its reset; the next values are from before.
TEST_F(Judge, AResetBeginsCountersAnew) {
  say({count("ras.umc.ue", 1, 0), count("ras.umc.ue", 2, 0)});
  say({count("ras.umc.ue", 1, 1), count("ras.umc.ue", 2, 1)});
  ASSERT_EQ(judge.judge().size(), 2U);
  say({event("amd.reset", 1), count("ras.umc.ue", 1, 2), count("ras.umc.ue", 2, 1)});
  auto faults = judge.judge();
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_EQ(faults[0].code, "ras.umc.ue");
  EXPECT_EQ(faults[0].chip, ChipIndex{2});
  EXPECT_EQ(faults[1].code, "amd.reset");
  say({count("ras.umc.ue", 1, 3), count("ras.umc.ue", 2, 1)});
  EXPECT_EQ(judge.judge()[0].chip, ChipIndex{1});
}

TEST_F(Judge, SomebodyMayClearWhatIsHeldButNotItsCause) {
  say({event("xid.79", 1), event("xid.79", 2), state("hccn.link-down", 1)});
  judge.clear(ChipIndex{1});
  auto faults = judge.judge();
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_EQ(faults[0].chip, ChipIndex{2});
  EXPECT_EQ(faults[1].code, "hccn.link-down");
  judge.clear(std::nullopt);
  EXPECT_THAT(codes(), ElementsAre("hccn.link-down"));
}

TEST_F(Judge, ACounterIsACauseWhileItRisesFastEnough) {
  say({crc(3, 1'000'000)});
  EXPECT_THAT(codes(), IsEmpty());  // of unknown age
  clock.advance(seconds(30));
  say({crc(3, 1'000'099)});
  EXPECT_THAT(codes(), IsEmpty());
  clock.advance(seconds(20));
  say({crc(3, 1'000'100)});
  const auto faults = judge.judge();
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].port, 3);
  // After 40 s, 99 of the errors are too old: the cause is over, and the fault is held for 30 s
  // more.
  live(milliseconds(69'000));
  EXPECT_THAT(codes(), ElementsAre("nvlink.crc"));
  live(milliseconds(1'000));
  EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(Judge, ACounterThatBeganAnewIsNotNegative) {
  say({crc(3, 1'000'000)});
  say({crc(3, 99)});
  EXPECT_THAT(codes(), IsEmpty());
  say({crc(3, 100)});
  EXPECT_THAT(codes(), ElementsAre("nvlink.crc"));
}

TEST_F(Judge, EachPortCountsForItself) {
  say({crc(3, 0), crc(4, 0)});
  say({crc(3, 60), crc(4, 60)});
  EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(Judge, AReadingIsACauseFromItsLimitOn) {
  const auto hot = [](double value) {
    return Signal{SignalKind::reading, "temperature", ChipIndex{0}, std::nullopt, "", value, ""};
  };
  say({hot(89.9)});
  EXPECT_THAT(codes(), IsEmpty());
  say({hot(90)});
  EXPECT_THAT(codes(), ElementsAre("temperature"));
  say({hot(80)});
  live(seconds(5));
  EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(Judge, AReadingThatNoRuleNamesIsJustAFigure) {
  say({{SignalKind::reading, "fan", ChipIndex{0}, std::nullopt, "", 1e9, ""}});
  EXPECT_THAT(codes(), IsEmpty());
}

TEST_F(Judge, LanesThatAreDownCountAtOnceAndAreTrustedLater) {
  ASSERT_TRUE(seen.topology.take_down(0, 1, 1));
  observe();
  auto faults = judge.judge();
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].code, "link.down");
  EXPECT_EQ(faults[0].effect, Effect::link);
  EXPECT_EQ(faults[0].chip, ChipIndex{0});
  EXPECT_EQ(faults[0].peer, ChipIndex{1});
  EXPECT_EQ(faults[0].lanes, 1);
  EXPECT_EQ(faults[0].text, "NVLINK to chip 1: 1 of 2 lanes down");
  ASSERT_TRUE(seen.topology.take_down(0, 1, 1));
  observe();
  EXPECT_EQ(judge.judge()[0].lanes, 2);
  live(seconds(5));
  // One link comes up; it is not trusted for another ten seconds.
  seen.topology = ring_of_four();
  ASSERT_TRUE(seen.topology.take_down(0, 1, 1));
  observe();
  live(milliseconds(9'500));
  EXPECT_EQ(judge.judge()[0].lanes, 2);
  EXPECT_EQ(judge.judge()[0].text, "NVLINK to chip 1: 2 of 2 lanes down");
  live(milliseconds(500));
  EXPECT_EQ(judge.judge()[0].lanes, 1);
  seen.topology = ring_of_four();
  observe();
  live(seconds(10));
  EXPECT_THAT(judge.judge(), IsEmpty());
}

TEST_F(Judge, WhatFlapsIsHeldTwiceAsLongEachTimeButNotForEver) {
  const auto held_for = [this] {
    say({state("hccn.link-down", 2)});
    say({});
    int halves = 0;
    while (!judge.judge().empty()) {
      live(milliseconds(500));
      ++halves;
    }
    return halves / 2;
  };
  EXPECT_EQ(held_for(), 10);
  EXPECT_EQ(held_for(), 20);
  EXPECT_EQ(held_for(), 40);
  for (int i = 0; i < 8; ++i) held_for();
  EXPECT_EQ(held_for(), 600);
  // After ten quiet minutes the hold time is normal again.
  live(seconds(600));
  EXPECT_EQ(held_for(), 10);
}

TEST_F(Judge, ARestartForgetsNothingThatIsHeld) {
  say({event("xid.79", 1), event("xid.48", 2), state("hccn.link-down", 3)});
  say({state("hccn.link-down", 3)});
  const auto before = judge.judge();
  clock.advance(seconds(5));
  HealthJudge next{policy(), clock};
  next.restore(before);
  auto after = next.judge();
  ASSERT_EQ(after.size(), 3U);
  EXPECT_EQ(after[0].code, "xid.79");
  EXPECT_EQ(after[0].since, before[0].since);
  EXPECT_EQ(after[0].held_until, domain::kHeldUntilReset);
  EXPECT_EQ(after[1].code, "xid.48");
  EXPECT_EQ(after[1].held_until, before[1].held_until);
  EXPECT_EQ(after[2].code, "hccn.link-down") << "held as if it had just ended";
  clock.advance(seconds(9));
  EXPECT_EQ(next.judge().size(), 3U);
  clock.advance(seconds(2));
  EXPECT_EQ(next.judge().size(), 2U);
  clock.advance(seconds(300));
  EXPECT_EQ(next.judge().size(), 1U);
}

// The longer hold of a flapping cause goes on, and so does its count.
TEST_F(Judge, ARestartForgetsNoFlapping) {
  for (int i = 0; i < 3; ++i) {
    say({state("hccn.link-down", 2)});
    say({});
    if (i < 2) {
      while (!judge.judge().empty()) live(milliseconds(500));
    }
  }
  const auto before = judge.judge();
  ASSERT_EQ(before.size(), 1U);
  clock.advance(seconds(15));
  HealthJudge next{policy(), clock};
  next.restore(before);
  EXPECT_EQ(next.judge().size(), 1U) << "40 s in all";
  clock.advance(seconds(24));
  EXPECT_EQ(next.judge().size(), 1U);
  clock.advance(seconds(2));
  EXPECT_EQ(next.judge().size(), 0U);
}

TEST_F(Judge, ALinkIsHeldOverARestartWithItsLanes) {
  ASSERT_TRUE(seen.topology.take_down(0, 1, 2));
  observe();
  const auto before = judge.judge();
  HealthJudge next{policy(), clock};
  next.restore(before);
  seen.topology = ring_of_four();
  next.observe(seen);
  ASSERT_EQ(next.judge().size(), 1U);
  EXPECT_EQ(next.judge()[0].lanes, 2);
  clock.advance(seconds(11));
  next.observe(seen);
  EXPECT_THAT(next.judge(), IsEmpty());
}

TEST_F(Judge, ChipsMayBeCalledDifferently) {
  say({event("xid.79", 1), event("xid.79", 2)});
  judge.rename({{ChipIndex{1}, ChipIndex{2}}, {ChipIndex{2}, ChipIndex{3}}});
  const auto now = judge.judge();
  ASSERT_EQ(now.size(), 2U);
  EXPECT_EQ(now[0].chip, ChipIndex{2});
  EXPECT_EQ(now[1].chip, ChipIndex{3});
}

TEST_F(Judge, MemoryStaysBoundedWhateverIsReported) {
  std::vector<Signal> many;
  many.reserve(40'000);
  for (int i = 0; i < 40'000; ++i) many.push_back(event("xid." + std::to_string(i), 0));
  say(many);
  // The one that was not kept may be of any kind.
  const auto all = judge.judge();
  EXPECT_EQ(all.size(), 32'769U);
  const auto lost = std::find_if(all.begin(), all.end(), [](const domain::Fault& fault) {
    return fault.code == "faults.too-many";
  });
  ASSERT_NE(lost, all.end());
  EXPECT_EQ(lost->effect, domain::Effect::unusable);
  EXPECT_FALSE(lost->chip);
  say({});
  clock.advance(seconds(300));
  EXPECT_THAT(codes(), UnorderedElementsAre("faults.too-many", "xid.79"));
  judge.clear(ChipIndex{3});
  EXPECT_EQ(codes().size(), 2U);
  judge.clear(std::nullopt);
  say({event("xid.79", 0)});
  EXPECT_THAT(codes(), ElementsAre("xid.79"));
  clock.advance(seconds(600));
  judge.judge();
  say({state("hccn.link-down", 1)});
  EXPECT_THAT(codes(), ElementsAre("xid.79", "hccn.link-down"));
}

}  // namespace
}  // namespace chipweave::agent
