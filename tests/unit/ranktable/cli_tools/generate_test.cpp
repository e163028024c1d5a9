// The generators as commands: rejected input, messages, and the files they write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/ranktable/cli_tools/tool_runner.hpp"

namespace chipweave::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::SizeIs;

TEST(Generate, RefusesAndWritesNothing) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{}, "nothing to generate"},
      {{"--prefill-server-list"}, "nothing to generate"},
      {{"--prefill-server-list", ""}, "empty device id"},
      {{"--prefill-server-list", "0,,1"}, "empty device id"},
      {{"--prefill-server-list", "a"}, "expected a device id"},
      {{"--prefill-server-list", "0,1", "2"}, "differ in size"},
      {{"--decode-server-list", "0,1", "2"}, "differ in size"},
      {{"--prefill-server-list", "0", "--decode-server-list", "0"}, "is used by"},
      {{"--prefill-server-list", "1,23", "--decode-server-list", "12,3"}, "1,23"},
      {{"--prefill-server-list", "0,1", "--decode-server-list", "2", "--strict"},
       "rejects on one machine"},
      {{"--api-server", "--ip", "../../etc/x"},
       "argument --ip: expected an IP address, got \"../../etc/x\""},
      {{"--api-server", "--ip", "10.0.0.256"}, "expected an IP address"},
      {{"--api-server", "--ip", "\x1b[2J"}, "got \"?[2J\""},
      {{"--api-server", "--ip", "1.1.1.1", "--save-dir", ""}, "empty name"},
      {{"--api-server", "--ip", "1.1.1.1", "--device-port-range", "5", "4"}, "expected two ports"},
      {{"--api-server", "--ip", "1.1.1.1", "--replace-device-list", "x"},
       "expected addresses separated by commas, got \"x\""},
      {{"--decode-server-list", "1,0", "--ip", "1.1.1.1", "--replace-device-list",
        "10.0.1.18,10.0.1.19"},
       "the list has its address 10.0.1.18 too"},
      {{"--decode-server-list", "1023", "--ip", "1.1.1.1"}, "device 1023 has no address"},
  };
  for (const auto& [words, says] : cases) {
    ToolRunner runner;
    Words all = {"gen"};
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_EQ(runner.run(all), 1) << says;
    EXPECT_THAT(runner.err, HasSubstr("chipweave ranktable gen: error: "));
    EXPECT_THAT(runner.err, HasSubstr(says));
    EXPECT_THAT(runner.err, Not(HasSubstr("\x1b")));
    EXPECT_THAT(ToolRunner::files(), IsEmpty()) << says;
  }
}

TEST(Generate, WritesNothingWhereOneDeviceHasNoAddress) {
  ToolRunner runner;
  runner.set_tool("[ $2 = 3 ] && echo no ip was preset there && exit 13\necho ipaddr:10.0.1.$2\n");
  EXPECT_EQ(runner.run({"gen", "--api-server", "--dec", "1", "2", "3", "--ip", "1.1.1.1"}), 1);
  EXPECT_THAT(runner.err, HasSubstr("device 3 has no address"));
  EXPECT_THAT(ToolRunner::files(), IsEmpty());
}

TEST(Generate, RefusesDevicesThatShareAnAddress) {
  ToolRunner runner;
  runner.set_tool("echo ipaddr:10.0.1.1\n");
  EXPECT_EQ(runner.run({"gen", "--decode-server-list", "1", "2", "--ip", "1.1.1.1"}), 1);
  EXPECT_THAT(runner.err, HasSubstr("devices 1 and 2 both have address 10.0.1.1"));
  runner.set_tool("[ $2 = 1 ] && echo ipaddr:10.0.1.1 || echo ipv6_address:2001:db8::1\n");
  EXPECT_EQ(runner.run({"gen", "--decode-server-list", "1", "--ip", "1.1.1.1"}), 0);
}

TEST(Generate, Warns) {
  ToolRunner runner;
  runner.set_conf("address_0=10.0.9.9\n");
  EXPECT_EQ(runner.run({"gen", "--prefill-server-list", "0", "--decode-server-list", "1,2", "--ip",
                        "127.0.1.1", "--save-dir", "d"}),
            0)
      << runner.err;
  EXPECT_THAT(runner.err, HasSubstr("-WARNING: prefill instances have 1 devices"));
  EXPECT_THAT(runner.err, HasSubstr("-WARNING: the address of this machine is 127.0.1.1"));
  EXPECT_THAT(runner.err, HasSubstr("configures 10.0.9.9"));
  EXPECT_THAT(ToolRunner::files("d"), SizeIs(3));
}

TEST(Generate, ADryRunWritesNothing) {
  ToolRunner runner;
  EXPECT_EQ(runner.run({"gen", "--api-server", "--ip", "1.1.1.1", "--save-dir", "d", "--dry-run"}),
            0);
  EXPECT_THAT(runner.err, HasSubstr("Would save d/global_ranktable_1.1.1.1.json, "));
  EXPECT_FALSE(std::filesystem::exists("d"));
}

TEST(Generate, BorrowsTheNicOfTheSiblingDie) {
  ToolRunner runner;
  EXPECT_EQ(
      runner.run({"gen", "--dec", "0,1", "--ip", "1.1.1.1", "--replace-device-list", "10.0.1.19"}),
      0)
      << runner.err;
  const auto files = ToolRunner::files();
  EXPECT_THAT(files.at("local_ranktable_1.1.1.1_01.json"),
              HasSubstr("\"device_ip\": \"10.0.1.18\",\n                    \"rank_id\": \"1\",\n"
                        "                    \"device_port\": \"16667\""));
}

TEST(Generate, PlansForAMachineThatIsDescribed) {
  ToolRunner runner;
  const Words words = {"chipweave", "ranktable", "gen",  "--from-topology", "ascend-a3-16",
                       "--dec",     "14,15",     "--ip", "10.0.0.1"};
  EXPECT_EQ(runner.run_words(words), 1);
  EXPECT_THAT(runner.err, HasSubstr("add --address-plan BASE/PREFIX"));
  Words planned = words;
  planned.insert(planned.end(), {"--address-plan", "10.0.1.16/24"});
  EXPECT_EQ(runner.run_words(planned), 0) << runner.err;
  EXPECT_THAT(ToolRunner::files(), ElementsAre(Key("global_ranktable_10.0.0.1.json"),
                                               Key("local_ranktable_10.0.0.1_1415.json")));
}

TEST(Generate, MergesLocalTablesAndAllOfThem) {
  ToolRunner runner;
  for (const int host : {1, 2, 3}) {
    runner.set_host(host);
    ASSERT_EQ(runner.run({"gen", "--pre", "0,1", "--ip", "10.0.0." + std::to_string(host),
                          "--save-dir", "all"}),
              0);
  }
  const std::string local = "all/local_ranktable_10.0.0.";
  EXPECT_EQ(runner.run_words({"pd_ranktable_tools", "--mode", "merge-local",
                              "--local-ranktable-list", local + "1_01.json", local + "2_01.json"}),
            0)
      << runner.err;
  EXPECT_EQ(
      runner.run_words({"chipweave", "ranktable", "merge-all", "--prefill-server-list",
                        "local_ranktable_merge.json", "--decode-server-list", local + "3_01.json",
                        "--api-server-list", "nobody", "--save-dir", "m"}),
      0)
      << runner.err;
  EXPECT_THAT(ToolRunner::files("m").at("global_ranktable_merge.json"),
              HasSubstr("\"server_count\": 2,"));
  EXPECT_EQ(runner.run_words({"chipweave", "ranktable", "merge", "--global-ranktable-list",
                              "all/none.json", "x"}),
            1);
  EXPECT_THAT(runner.err, HasSubstr("file all/none.json: cannot open"));
}

TEST(Generate, HcclUsesThePhysicalIdsThatAreVisible) {
  ToolRunner runner;
  EXPECT_EQ(runner.run({"gen-hccl", "--device_num", "[0,2)", "--visible_devices", "4,5",
                        "--server_ip", "10.0.0.18"}),
            0)
      << runner.err;
  EXPECT_THAT(runner.out, HasSubstr("visible_devices:['4', '5']\nserver_id:10.0.0.18\n"
                                    "rank_id:0, device_id:4, device_ip:10.0.1.22\n"));
  EXPECT_THAT(ToolRunner::files(), ElementsAre(Key("hccl_2p_01_10.0.0.18.json")));
  EXPECT_EQ(runner.run({"gen-hccl", "--device_num", "[3,5)"}), 1);
  EXPECT_THAT(runner.err, HasSubstr("must be in the same group"));
}

TEST(Entry, TellsUsageErrorsFromFailuresAndOtherCommands) {
  ToolRunner runner;
  EXPECT_EQ(runner.run({"gen", "--foo"}), 2);
  EXPECT_THAT(runner.err, HasSubstr("see 'chipweave ranktable gen --help'"));
  EXPECT_EQ(runner.run({"gen", "--mode", "merge"}), 2);
  EXPECT_EQ(runner.run_words({"pd_ranktable_tools", "--mode", "x"}), 2);
  EXPECT_EQ(runner.run_words({"chipweave", "ranktable", "merge-hccl"}), 2);
  EXPECT_EQ(runner.run_words({"x/merge_hccl.py", "a"}), -1);
  EXPECT_EQ(runner.run_words({"hccl_tools.py", "--address-plan", "x"}), 2);
  EXPECT_EQ(runner.run_words({"hccl_tools.py", "--device_num", "8"}), 1);
  EXPECT_EQ(runner.run_words({"chipweave", "ranktable", "lint", "f"}), -1);
  EXPECT_EQ(runner.run_words({"chipweave", "ranktable"}), -1);
  EXPECT_EQ(runner.run_words({"chipweave", "gen"}), -1);
  EXPECT_EQ(runner.run_words({"chipweave"}), -1);
  EXPECT_EQ(runner.run_words({}), -1);
}

}  // namespace
}  // namespace chipweave::cli
