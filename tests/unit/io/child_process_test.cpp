#include "common/io/child_process.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tests/unit/temp_folder.hpp"

namespace chipweave::io {
namespace {

Result<ChildOutput> shell(const std::string& lines, const ChildLimits& limits = {}) {
  return run_child({"/bin/sh", "-c", lines}, limits);
}

TEST(ChildProcess, CollectsBothOutputsAndTheStatus) {
  const auto out = shell("echo one; echo two >&2; exit 13");
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_EQ(out->text, "one\ntwo\n");
  EXPECT_EQ(out->exit_status, 13);
  EXPECT_EQ(shell("kill -9 $$")->exit_status, 128 + 9);
}

TEST(ChildProcess, GivesNoInput) {
  const auto out = shell("cat; echo done");
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_EQ(out->text, "done\n");
}

TEST(ChildProcess, WordsAreNoShell) {
  const auto out = run_child({"/bin/echo", "$(id); `id`", "a b"}, {});
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_EQ(out->text, "$(id); `id` a b\n");
}

TEST(ChildProcess, EndsWhatHangsWithItsChildren) {
  ChildLimits limits;
  limits.deadline = std::chrono::milliseconds(50);
  const auto hangs = shell("sleep 1000 & sleep 1000", limits);
  ASSERT_FALSE(hangs.ok());
  EXPECT_EQ(hangs.error().code, Errc::deadline);
  const auto silent = shell("exec >&- 2>&-; sleep 1000", limits);
  ASSERT_FALSE(silent.ok());
  EXPECT_EQ(silent.error().code, Errc::deadline);
}

TEST(ChildProcess, EndsWhatPrintsWithoutEnd) {
  ChildLimits limits;
  limits.max_bytes = 10000;
  const auto out = shell("while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyy; done", limits);
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().code, Errc::limit_exceeded);
}

TEST(ChildProcess, SaysWhatItCannotStart) {
  const auto out = run_child({"/no/such/program"}, {});
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().code, Errc::not_found);
}

TEST(ChildProcess, FindsProgramsOnPath) {
  const TempFolder folder;
  const std::string tool = folder.put("bin/sometool", "#!/bin/sh\n");
  const char* before = std::getenv("PATH");
  const std::string old = before == nullptr ? "" : before;
  ::setenv("PATH", ("relative::" + folder.at("bin")).c_str(), 1);
  EXPECT_EQ(find_on_path("sometool"), "");
  std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
  EXPECT_EQ(find_on_path("sometool"), tool);
  EXPECT_EQ(find_on_path("othertool"), "");
  ::setenv("PATH", old.c_str(), 1);
}

}  // namespace
}  // namespace chipweave::io
