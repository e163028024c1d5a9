// Command lines of scripts that were written for the reference programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/ranktable/cli_tools/tool_runner.hpp"

namespace chipweave::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;

// `pd_ranktable_tools.py … --save-dir out`, with a stand-in for hccn_tool.
class Options : public ::testing::Test {
 protected:
  int run(Words words) {
    words.insert(words.begin(), "pd_ranktable_tools.py");
    words.insert(words.end(), {"--save-dir", "out", "--hccn-tool", runner_.tool()});
    return runner_.run_words(words);
  }
  // The names of the files written to `folder`, without their common parts.
  static std::vector<std::string> locals(const std::string& folder = "out") {
    std::vector<std::string> out;
    for (const auto& [name, text] : ToolRunner::files(folder)) {
      if (name.starts_with("local_ranktable_")) out.push_back(name.substr(16));
    }
    return out;
  }
  ToolRunner runner_;
};

TEST_F(Options, AListEndsAtTheNextOption) {
  EXPECT_EQ(run({"--prefill-server-list", "0,1", "2,3", "--api-server", "--decode-server-list",
                 "--ip", "1.1.1.1"}),
            0)
      << runner_.err;
  EXPECT_THAT(locals(), ElementsAre("1.1.1.1_01.json", "1.1.1.1_23.json", "1.1.1.1_host.json"));
}

TEST_F(Options, TheLastOfRepeatedOptionsCounts) {
  EXPECT_EQ(run({"--ip=1.1.1.1", "--save-dir", "a", "--prefill-server-list=0,1", "--save-dir=b=c",
                 "--ip=2.2.2.2", "--prefill-server-list=2", "--mode", "merge", "--mode=gen"}),
            0)
      << runner_.err;
  EXPECT_THAT(locals(), ElementsAre("2.2.2.2_2.json"));
}

TEST_F(Options, BeginningsOfNamesOfTheReference) {
  EXPECT_EQ(run({"--pre", "0,1", "--dec=2,3", "--mod", "gen", "--api-server-l", "f", "--i=1.1.1.1",
                 "--s", "d"}),
            0)
      << runner_.err;
  EXPECT_THAT(locals(), ElementsAre("1.1.1.1_01.json", "1.1.1.1_23.json"));
  // --decode-server-list or --device-port-range; --api-server or --api-server-list
  for (const char* ambiguous : {"--de", "--api"}) EXPECT_EQ(run({ambiguous, "0"}), 2);
  // Options that the reference does not have must be written out.
  EXPECT_EQ(run({"--stric", "--api-server", "--ip=1.1.1.1"}), 2);
  EXPECT_EQ(run({"--strict", "--api-server", "--ip=1.1.1.1"}), 0) << runner_.err;
}

TEST_F(Options, AnEmptyValueIsAValue) {
  EXPECT_EQ(run({"--ip=", "--ip=1.1.1.1", "--prefill-server-list", "0", "--replace-device-list="}),
            0)
      << runner_.err;
  EXPECT_EQ(run({"--prefill-server-list="}), 1);
  EXPECT_THAT(runner_.err, HasSubstr("empty device id"));
}

TEST_F(Options, WrongUsageEndsWithTwo) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"--foo"}, "--foo"},
      {{"-x", "1"}, "-x"},
      {{"0,1"}, "0,1"},
      {{"--ip", "--api-server"}, "--ip"},
      {{"--ip", "a", "b"}, "b"},
      {{"--api-server", "x"}, "x"},
      {{"--api-server=x"}, "api-server"},
      {{"--device-port-range", "1"}, "--device-port-range"},
      {{"--device-port-range", "1", "2", "3"}, "3"},
      {{"--mode", "all"}, "all"},
      {{"--mode", "0"}, "--mode"},
      {{"--from-topology", "a", "--from-inventory", "b"}, "--from-inventory"},
      {{"--address-plan", "10.0.0.1/24"}, "--from-topology"},
      {{"--from-topology="}, "empty"},
  };
  for (const auto& [words, names] : cases) {
    EXPECT_EQ(run(words), 2) << words.front();
    EXPECT_THAT(runner_.err, HasSubstr(names));
    EXPECT_THAT(runner_.err, HasSubstr("see 'pd_ranktable_tools --help'"));
  }
  EXPECT_EQ(run({"--" + std::string(1000000, 'x')}), 2);
  EXPECT_LT(runner_.err.size(), 500U);
}

TEST_F(Options, OfHcclTools) {
  const auto error = [&](const Words& words, int exit) {
    Words all = {"gen-hccl", "--server_ip", "1.1.1.1"};
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_EQ(runner_.run(all), exit) << runner_.err;
    return runner_.err;
  };
  for (const char* interval : {"", "8", "[0,8]", "(0,8)", "[0, 8)", "[0,8,9)", "[-1,4)",
                               "[0,999999999999)", "[a,b)", "[)"}) {
    EXPECT_THAT(error({"--device_num", interval}, 1), HasSubstr("must be [FIRST,LAST)"));
  }
  EXPECT_THAT(error({"--device_num", "[0,9)"}, 1), HasSubstr("in range [0,8]"));
  for (const char* interval : {"[4,4)", "[4,2)"}) {
    EXPECT_THAT(error({"--device_num", interval}, 1), HasSubstr("is empty"));
  }
  for (const char* interval : {"[3,5)", "[0,5)", "[3,8)"}) {
    EXPECT_THAT(error({"--device_num", interval}, 1),
                HasSubstr("must be in the same group of [0,4] or [4,8]"));
  }
  EXPECT_THAT(error({"--visible_devices", "0,x"}, 1), HasSubstr("got \"x\" in \"0,x\""));
  EXPECT_THAT(error({"--visible_devices", "0,,1"}, 1), HasSubstr("expected a device id"));
  EXPECT_THAT(error({"--visible_devices", "0,0"}, 1), HasSubstr("is repeated"));
  EXPECT_THAT(error({"--visible_devices", "0,1"}, 1), HasSubstr("names 2 devices"));
  EXPECT_THAT(error({"--device_num_per_node", "0"}, 1), HasSubstr("must be 1 to 64"));
  EXPECT_THAT(error({"--device_num_per_node", "65"}, 1), HasSubstr("must be 1 to 64"));
  error({"--device_num", "[1,4)"}, 0);
  error({"--device_num", "[3,16)", "--device_num_per_node", "16"}, 0);
  EXPECT_THAT(ToolRunner::files(), ElementsAre(Key("hccl_13p_3456789101112131415_1.1.1.1.json"),
                                               Key("hccl_3p_123_1.1.1.1.json")));
}

TEST_F(Options, HelpEndsWithZero) {
  for (const char* name : {"gen", "merge", "merge-local", "merge-all", "gen-hccl", "merge-hccl"}) {
    EXPECT_EQ(runner_.run_words({"chipweave", "ranktable", name, "--help"}), 0);
    EXPECT_THAT(runner_.out, HasSubstr(std::string("Examples:\n  chipweave ranktable ") + name));
  }
  EXPECT_EQ(run({"--he"}), 0);
  EXPECT_THAT(runner_.out, HasSubstr("--mode"));
}

}  // namespace
}  // namespace chipweave::cli
