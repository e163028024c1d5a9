// The generators as scripts start them: exit codes, and the names of the reference programs.
#include <gmock/gmock.h>

#include "tests/component/ranktable/tables.hpp"
#include "tests/support/paths.hpp"

namespace chipweave {
namespace {

using ::testing::HasSubstr;

TEST_F(RankTables, GeneratorsHaveTheExitCodesOfTheReference) {
  EXPECT_EQ(ranktable("gen --foo").exit_code, 2);
  EXPECT_EQ(ranktable("gen").exit_code, 1);
  EXPECT_EQ(ranktable("gen --help").exit_code, 0);
  const Ran done = ranktable("gen --api-server --ip 10.0.0.1 --save-dir " + folder_.at("out"));
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_THAT(done.err, HasSubstr("/out/local_ranktable_10.0.0.1_host.json.\n"));
  EXPECT_THAT(ranktable("--help").out, HasSubstr("merge-hccl"));
}

TEST_F(RankTables, TheProgramStandsInForTheReferenceUnderItsName) {
  const std::string program = folder_.at("pd_ranktable_tools.py");
  std::filesystem::create_symlink(test::program_path("chipweave"), program);
  const Outcome wrong = run(program + " --mode lint 2>&1");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.text, HasSubstr("see 'pd_ranktable_tools --help'"));
  EXPECT_EQ(run(program + " --api-server --ip ::1 --save-dir " + folder_.at("out") + " 2>&1").code,
            0);
  EXPECT_TRUE(std::filesystem::exists(folder_.at("out/global_ranktable_::1.json")));
}

}  // namespace
}  // namespace chipweave
