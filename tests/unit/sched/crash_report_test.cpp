// A bug ends the process, and the next one shows it.
#include "scheduler-plugin/crash_report.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "scheduler-plugin/app/scheduler.hpp"
#include "scheduler-plugin/state/memory_cluster.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::sched {
namespace {

void run_with_a_bug(const CrashFile& file) {
  const ManualClock clock;
  http::Loop loop;
  end_on_escape(loop, clock, file);
  loop.post([] { throw std::logic_error("ledger: a guess that cannot be"); });
  loop.post([&] { loop.stop(); });
  loop.run();
}

TEST(CrashReports, AnEscapedExceptionEndsTheProcessAndTheNextOneCountsIt) {
  const io::TempFolder folder;
  const CrashFile file(folder.at("crashes"));
  for (int i = 0; i < 2; ++i) EXPECT_EXIT(run_with_a_bug(file), testing::ExitedWithCode(kBug), "");
  ASSERT_TRUE(file.read());
  EXPECT_EQ(file.read()->count, 2U);
  EXPECT_NE(file.read()->last.find(" ledger: a guess that cannot be"), std::string::npos);
  MemoryCluster cluster;
  NullObserver observer;
  const ManualClock clock;
  Scheduler scheduler(clock, cluster, observer);
  Metrics metrics("test");
  count_crashes(file, metrics);
  EXPECT_NE(metrics.scrape(scheduler, {}).find("\nchipweave_crashes_total 2\n"), std::string::npos);
}

TEST(CrashReports, WithoutABugNothingIsCounted) {
  const io::TempFolder folder;
  Metrics metrics("test");
  count_crashes(CrashFile(folder.at("crashes")), metrics);
  MemoryCluster cluster;
  NullObserver observer;
  const ManualClock clock;
  Scheduler scheduler(clock, cluster, observer);
  EXPECT_EQ(metrics.scrape(scheduler, {}).find("\nchipweave_crashes_total 1"), std::string::npos);
}

}  // namespace
}  // namespace chipweave::sched
