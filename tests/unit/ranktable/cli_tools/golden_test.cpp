// The files of the reference generators, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/codec_text/shared_file.hpp"
#include "tests/unit/ranktable/cli_tools/tool_runner.hpp"

namespace chipweave::cli {
namespace {

using Files = std::map<std::string, std::string>;

std::string golden(const std::string& name) {
  return codec::shared_folder("ranktables/golden/" + name).string();
}

class GoldenTables : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(golden("hccl_tools"))) {
      GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)";
    }
  }
  ToolRunner runner_;
};

TEST_F(GoldenTables, OfThreeMachinesAndTheirMerge) {
  ASSERT_EQ(
      runner_.run({"gen", "--mode", "gen", "--prefill-server-list", "4,5", "--decode-server-list",
                   "6,7", "--api-server", "--ip", "10.0.0.18", "--save-dir", "a/new"}),
      0)
      << runner_.err;
  EXPECT_EQ(ToolRunner::files("a/new"), ToolRunner::files(golden("modelarts_host_a")));
  runner_.set_host(2);
  ASSERT_EQ(runner_.run({"gen", "--prefill-server-list", "0,1", "2,3", "--ip=10.0.0.19",
                         "--save-dir", "b"}),
            0)
      << runner_.err;
  EXPECT_EQ(ToolRunner::files("b"), ToolRunner::files(golden("modelarts_host_b")));
  runner_.set_host(3);
  ASSERT_EQ(runner_.run({"gen", "--dec", "0,1", "2,3", "--ip", "10.0.0.20", "--save-dir", "c"}), 0)
      << runner_.err;
  EXPECT_EQ(ToolRunner::files("c"), ToolRunner::files(golden("modelarts_host_c")));
  ASSERT_EQ(runner_.run_words({"pd_ranktable_tools.py", "--mode", "merge",
                               "--global-ranktable-list", "a/new/global_ranktable_10.0.0.18.json",
                               "b/global_ranktable_10.0.0.19.json",
                               "c/global_ranktable_10.0.0.20.json", "--save-dir", "m"}),
            0)
      << runner_.err;
  EXPECT_EQ(ToolRunner::files("m"), ToolRunner::files(golden("modelarts_merge_abc")));
  EXPECT_THAT(runner_.err, ::testing::HasSubstr("-INFO: Save m/global_ranktable_merge.json.\n"));
}

TEST_F(GoldenTables, OfHcclTools) {
  for (const char* interval : {"[0,8)", "[0,4)", "[4,8)", "[0,1)"}) {
    ASSERT_EQ(runner_.run({"gen-hccl", "--device_num", interval, "--server_ip", "10.0.0.18"}), 0)
        << runner_.err;
  }
  ASSERT_EQ(runner_.run({"gen-hccl", "--device_num", "[0,2)", "--server_ip", "10.0.0.19"}), 0);
  EXPECT_EQ(ToolRunner::files(), ToolRunner::files(golden("hccl_tools")));
}

TEST_F(GoldenTables, OfHcclToolsInAContainer) {
  runner_.set_tool("exit 1\n");
  runner_.set_conf(
      *codec::shared_file("ascend/rt_hccn_conf_910A_host21_container_4to7_reindexed.conf"));
  ASSERT_EQ(runner_.run({"gen-hccl", "--device_num", "[0,4)", "--server_ip", "127.0.0.1"}), 0)
      << runner_.err;
  EXPECT_EQ(ToolRunner::files(), ToolRunner::files(golden("hccl_tools_container_4of8")));
}

TEST_F(GoldenTables, OfMergeHccl) {
  const Files all = ToolRunner::files(golden("merge_hccl"));
  ASSERT_EQ(runner_.run_words({"chipweave", "ranktable", "merge-hccl",
                               golden("merge_hccl/hccl_8p_01234567_10.0.0.18.json"),
                               golden("merge_hccl/hccl_8p_01234567_10.0.0.19.json")}),
            0)
      << runner_.err;
  EXPECT_EQ(ToolRunner::files(), (Files{{"hccl_2s_16p.json", all.at("hccl_2s_16p.json")}}));
}

}  // namespace
}  // namespace chipweave::cli
