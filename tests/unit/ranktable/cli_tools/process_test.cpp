// The program itself: exit codes, and the names under which it stands in for the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/io/child_process.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/ranktable/cli_tools/tool_runner.hpp"

namespace chipweave::cli {
namespace {

using ::testing::HasSubstr;

io::ChildOutput run_program(const Words& words) {
  const auto out = io::run_child(words, {});
  EXPECT_TRUE(out.ok()) << (out.ok() ? "" : out.error().text());
  return out.ok() ? *out : io::ChildOutput{};
}

TEST(Program, HasTheExitCodesOfTheReference) {
  const ToolRunner runner;  // a folder of its own
  const std::string program = test::program_path("chipweave");
  EXPECT_EQ(run_program({program, "ranktable", "gen", "--foo"}).exit_status, 2);
  EXPECT_EQ(run_program({program, "ranktable", "gen"}).exit_status, 1);
  EXPECT_EQ(run_program({program, "ranktable", "gen", "--help"}).exit_status, 0);
  const io::ChildOutput done =
      run_program({program, "ranktable", "gen", "--api-server", "--ip", "10.0.0.1"});
  EXPECT_EQ(done.exit_status, 0);
  EXPECT_THAT(done.text, HasSubstr("-INFO: Save ./local_ranktable_10.0.0.1_host.json.\n"));
  EXPECT_THAT(run_program({program, "ranktable", "--help"}).text, HasSubstr("merge-hccl"));
}

TEST(Program, StandsInUnderTheNameOfTheReference) {
  const ToolRunner runner;
  std::filesystem::create_symlink(test::program_path("chipweave"), "pd_ranktable_tools.py");
  const io::ChildOutput wrong = run_program({"./pd_ranktable_tools.py", "--mode", "lint"});
  EXPECT_EQ(wrong.exit_status, 2);
  EXPECT_THAT(wrong.text, HasSubstr("see 'pd_ranktable_tools --help'"));
  EXPECT_EQ(run_program({"./pd_ranktable_tools.py", "--api-server", "--ip", "::1"}).exit_status, 0);
  EXPECT_TRUE(std::filesystem::exists("global_ranktable_::1.json"));
}

}  // namespace
}  // namespace chipweave::cli
