#include "node-agent/supervisor/probe_supervisor.hpp"

#include <signal.h>

#include <condition_variable>
#include <fstream>
#include <mutex>

#include <gtest/gtest.h>

#include "tests/unit/probe_process/helped.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ProbeSupervisor, GivesEachObservationOnce) {
  Helped helped(seen(2) + kStay);
  ASSERT_TRUE(helped.collect([&] { return helped.has_chips(2); }));
  EXPECT_FALSE(helped.probe().update().reading);
  EXPECT_FALSE(helped.probe().trouble());
}

TEST(ProbeSupervisor, BeforeTheFirstAnswerThereIsNone) {
  Helped helped(kStay);
  EXPECT_FALSE(helped.probe().update().reading);
}

TEST(ProbeSupervisor, EventsAreKeptWhateverComesAfterThem) {
  const auto event = [](int number) {
    return seen(1, R"(,"signals":[{"kind":"event","code":"xid.)" + std::to_string(number) +
                       R"(","chip":0},{"kind":"state","code":"nvml.lost","chip":0}])");
  };
  Helped helped(event(1) + R"(echo '{"events":[{"kind":"event","code":"xid.2","chip":0}]}'; )" +
                R"(echo '{"error":{"code":"unavailable","message":"no driver"}}'; )" + event(3) +
                seen(3) + kStay);
  // Independent of when and in how many steps they are taken.
  ASSERT_TRUE(helped.collect([&] { return helped.has_chips(3); }));
  EXPECT_EQ(helped.events, (std::vector<std::string>{"xid.1", "xid.2", "xid.3"}));
  EXPECT_TRUE((*helped.reading)->signals.empty());
}

TEST(ProbeSupervisor, AnEventArrivesThoughTheDriverHangsAfterIt) {
  SupervisorOptions options;
  options.line_within = milliseconds(30);
  Helped helped(
      seen(1) + R"(echo '{"events":[{"kind":"event","code":"xid.79","chip":0}]}'; )" + kStay,
      options);
  ASSERT_TRUE(helped.collect([&] { return !helped.events.empty(); }));
  EXPECT_EQ(helped.events.front(), "xid.79");
}

std::string measured(int taken) {
  return R"(echo '{"taken_ms":)" + std::to_string(taken) + R"(,"metrics":[{"chip":0}]}'; )";
}

TEST(ProbeSupervisor, GivesTheNewestMeasurement) {
  Helped helped(seen(1) + measured(1) + measured(2) + kStay);
  ASSERT_TRUE(helped.collect([&] { return helped.metrics && helped.metrics->taken_ms == 2; }));
  EXPECT_FALSE(helped.probe().update().metrics);
}

// Its indices are those of the observation before it.
TEST(ProbeSupervisor, AMeasurementFromBeforeAnObservationIsDropped) {
  const io::TempFolder folder;
  // The first run ends after its lines, which are then read; the second one has none.
  Helped helped("mkdir " + folder.at("once") + " 2>/dev/null || " + kStay + "; " + measured(1) +
                seen(2) + "true");
  ASSERT_TRUE(helped.until([&] { return helped.probe().counts().starts == 2; }));
  const MachineUpdate update = helped.probe().update();
  ASSERT_TRUE(update.reading);
  EXPECT_FALSE(update.metrics);
}

TEST(ProbeSupervisor, WhatItCannotReadIsItsError) {
  Helped helped(R"(echo '{"error":{"code":"not_found","message":"no GPU here"}}'; )" + kStay);
  ASSERT_TRUE(helped.collect([&] { return helped.reading.has_value(); }));
  EXPECT_EQ(helped.reading->error().code, Errc::not_found);
  EXPECT_EQ(helped.reading->error().message, "no GPU here");
  EXPECT_FALSE(helped.probe().trouble());
}

TEST(ProbeSupervisor, AHangIsReportedAndTheProcessRestarted) {
  SupervisorOptions options;
  options.line_within = milliseconds(30);
  Helped helped(seen(1) + kStay, options);
  ASSERT_TRUE(helped.until([&] { return helped.probe().counts().stuck > 0; }));
  ASSERT_TRUE(helped.until([&] { return helped.probe().counts().starts > 2; }));
  ASSERT_TRUE(helped.until([&] { return helped.trouble_code() == "probe.stuck"; }));
  EXPECT_TRUE(helped.probe().update().reading);
}

TEST(ProbeSupervisor, AHangBeforeTheFirstLineIsReportedToo) {
  SupervisorOptions options;
  options.first_line_within = milliseconds(10);
  Helped helped(kStay, options);
  EXPECT_TRUE(helped.until([&] { return helped.trouble_code() == "probe.stuck"; }));
}

// Another program may now reset the hardware: no process has it open.
TEST(ProbeSupervisor, PausedThereIsNoProcess) {
  const io::TempFolder folder;
  Helped helped("echo $$ >" + folder.at("pid") + "; " + seen(2) + kStay);
  ASSERT_TRUE(helped.collect([&] { return helped.has_chips(2); }));
  pid_t pid = 0;
  std::ifstream(folder.at("pid")) >> pid;
  ASSERT_GT(pid, 0);
  helped.probe().pause(true);
  ASSERT_TRUE(helped.until([&] { return ::kill(pid, 0) != 0; }));
  EXPECT_FALSE(helped.probe().trouble()) << "it was ended on purpose";
  EXPECT_EQ(helped.probe().counts().starts, 1U);
  helped.reading.reset();
  helped.probe().pause(false);
  ASSERT_TRUE(helped.collect([&] { return helped.has_chips(2); }));
  EXPECT_EQ(helped.probe().counts().starts, 2U);
  EXPECT_EQ(helped.probe().counts().crashed, 0U);
}

TEST(ProbeSupervisor, EndsAlsoWhilePaused) {
  Helped helped(seen(1) + kStay);
  helped.probe().pause(true);
  helped.probe().pause(true);
}

TEST(ProbeSupervisor, APauseEndsTheWaitAfterACrash) {
  SupervisorOptions options;
  options.restart_max = seconds(1000);
  Helped helped("exit 1", options);
  ASSERT_TRUE(helped.until([&] { return helped.trouble_code() == "probe.crashed"; }));
  helped.probe().pause(true);
  EXPECT_TRUE(helped.until([&] { return helped.trouble_code().empty(); }));
}

TEST(ProbeSupervisor, ANewProcessEndsTheTroubleOfACrash) {
  const io::TempFolder folder;
  // The first run dies of a signal, the second one stays.
  Helped helped("mkdir " + folder.at("once") + " 2>/dev/null && kill -SEGV $$; " + seen(2) + kStay);
  ASSERT_TRUE(helped.collect([&] { return helped.has_chips(2); }));
  EXPECT_EQ(helped.probe().counts().crashed, 1U);
  EXPECT_FALSE(helped.probe().trouble());
}

TEST(ProbeSupervisor, EventsOfARunThatHasEndedAreKept) {
  const io::TempFolder folder;
  const std::string event = R"(,"signals":[{"kind":"event","code":"xid.79","chip":0}])";
  Helped helped("if mkdir " + folder.at("once") + " 2>/dev/null; then " + seen(1, event) +
                "kill -SEGV $$; fi; " + seen(2) + kStay);
  ASSERT_TRUE(helped.collect([&] { return helped.has_chips(2); }));
  EXPECT_EQ(helped.events, std::vector<std::string>{"xid.79"});
}

TEST(ProbeSupervisor, ACrashIsReportedWithItsSignal) {
  Helped helped(seen(1) + "kill -SEGV $$");
  ASSERT_TRUE(helped.until([&] { return helped.trouble_code() == "probe.crashed"; }));
  ASSERT_TRUE(helped.until([&] { return helped.probe().counts().crashed > 1; }));
  // Its last observation is still available.
  EXPECT_TRUE(helped.collect([&] { return helped.has_chips(1); }));
}

TEST(ProbeSupervisor, GarbageEndsTheRun) {
  Helped helped(seen(1) + "echo '{\"machine\":'; " + kStay);
  ASSERT_TRUE(helped.until([&] { return helped.probe().counts().garbage > 0; }));
}

TEST(ProbeSupervisor, AMissingProgramDoesNotEndTheAgent) {
  SupervisorOptions options;
  options.command = {"/nowhere/helper"};
  options.restart_min = milliseconds(1);
  std::mutex mutex;
  std::condition_variable changed;
  bool absent = false;
  ProbeSupervisor probe(options, [&] {
    const std::lock_guard lock(mutex);
    absent = true;
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  ASSERT_TRUE(changed.wait_for(lock, seconds(20), [&] { return absent; }));
  EXPECT_EQ(probe.trouble()->code, "probe.absent");
}

TEST(ProbeSupervisor, KillsItsProcessWhateverThatDoes) {
  for (int i = 0; i < 20; ++i) Helped helped("trap '' TERM INT HUP; " + kStay);
}

}  // namespace
}  // namespace chipweave::agent
