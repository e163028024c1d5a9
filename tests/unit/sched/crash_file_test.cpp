// What is left of a process that ended because of a bug.
#include "scheduler-plugin/crash_file.hpp"

#include <gtest/gtest.h>

#include "tests/unit/temp_folder.hpp"

namespace chipweave::sched {
namespace {

TEST(CrashFile, CountsAndKeepsTheLastReason) {
  const io::TempFolder folder;
  const CrashFile file(folder.at("crashes"));
  EXPECT_EQ(file.read()->count, 0U);
  ASSERT_TRUE(file.add("2026-01-02T03:04:05Z", "first"));
  ASSERT_TRUE(file.add("2026-01-02T03:05:06Z", "second\nof two lines\x1b[2J"));
  const auto earlier = file.read();
  ASSERT_TRUE(earlier);
  EXPECT_EQ(earlier->count, 2U);
  EXPECT_EQ(earlier->last, "2026-01-02T03:05:06Z second?of two lines?[2J");
}

TEST(CrashFile, AReasonWithoutEndLeavesAReadableFile) {
  const io::TempFolder folder;
  const CrashFile file(folder.at("crashes"));
  ASSERT_TRUE(file.add("t", std::string(1U << 20U, 'x')));
  ASSERT_TRUE(file.read());
  EXPECT_EQ(file.read()->last.size(), 1002U);
}

TEST(CrashFile, AForeignFileIsRefusedAndReplacedByTheNextCrash) {
  const io::TempFolder folder;
  for (const std::string text : {"", "\n", "-1\nx\n", "99999999999999999999999\n", "2", "two\n"}) {
    const CrashFile file(folder.put("crashes", text));
    ASSERT_FALSE(file.read()) << text;
    EXPECT_NE(file.read().error().message.find("remove it"), std::string::npos);
    ASSERT_TRUE(file.add("t", "why"));
    EXPECT_EQ(file.read()->count, 1U);
  }
}

TEST(CrashFile, WithoutAPathNothingIsKept) {
  const CrashFile file("");
  EXPECT_TRUE(file.add("t", "why"));
  EXPECT_EQ(file.read()->count, 0U);
}

TEST(CrashFile, AFolderThatIsNotThereIsAnError) {
  const io::TempFolder folder;
  const CrashFile file(folder.at("missing/crashes"));
  EXPECT_EQ(file.read()->count, 0U);
  EXPECT_FALSE(file.add("t", "why"));
}

}  // namespace
}  // namespace chipweave::sched
