// Inputs in the forms that people have them: standard input, host lists, ranges, other names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/component/programs/run.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class InputForms : public testing::Test {
 protected:
  const io::TempFolder folder_;
  const std::string matrix_ = folder_.put("box.txt",
                                          "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-7\n"
                                          "GPU1\tNV4\t X \t0-7\n");
  const std::string network_ =
      folder_.put("network.csv",
                  "name,leaf,host\ngpu01,a,gpu01\ngpu02,b,gpu02\ngpu03,a,gpu03\ngpu04,b,gpu04\n");
};

TEST_F(InputForms, MachinesComeFromStandardInput) {
  const std::string from_file =
      run("%B/chipweave place --machine " + matrix_ + " --size 2 2>/dev/null").text;
  EXPECT_THAT(from_file, HasSubstr("0,1 "));
  EXPECT_EQ(run("%B/chipweave place --machine - --size 2 2>/dev/null <" + matrix_).text, from_file);
  EXPECT_THAT(run("%B/chipweave topo show - --model H100 2>&1 <" + matrix_).text,
              HasSubstr("standard input: nvidia H100, 2 chips"));
  EXPECT_EQ(run("%B/chipweave topo convert - --to json 2>/dev/null <" + matrix_ +
                " | %B/chipweave topo convert - --to json")
                .text,
            run("%B/chipweave topo convert " + matrix_ + " --to json 2>/dev/null").text);
  EXPECT_THAT(run("echo x | %B/chipweave topo show - 2>&1").text,
              StartsWith("chipweave: standard input: "));
}

TEST_F(InputForms, OneInputIsStandardInput) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"place --machine - --size 1 --overlay -", "--machine - cannot be combined with --overlay -"},
      {"ranktable diff - -", "A - cannot be combined with OTHER -"},
      {"ranktable hash - -", "FILE: standard input (-) can be given only once"},
      {"ranktable lint - --against -", "FILE - cannot be combined with --against -"},
      {"ranktable order - --network -", "TABLE - cannot be combined with --network -"},
      {"submit - - --print", "FILE: standard input (-) can be given only once"},
      {"plan --network - --gang -", "--network - cannot be combined with --gang -"},
      {"defrag --network - --pods -", "--network - cannot be combined with --pods -"},
      {"rank --network - --hosts -", "--network - cannot be combined with --hosts -"},
      {"simulate --nodes - --pods -", "--nodes - cannot be combined with --pods -"},
      {"route plan --pods - --nodes -", "--pods - cannot be combined with --nodes -"},
      {"place --batch - --overlay -", "--batch - cannot be combined with --overlay -"},
      {"calibrate nccl-tests - -", "FILE: standard input (-) can be given only once"},
  };
  for (const auto& [arguments, says] : cases) {
    const Outcome outcome = run("echo '{\"a\":1}' | %B/chipweave " + arguments + " 2>&1");
    EXPECT_THAT(outcome.text, HasSubstr("chipweave: " + says)) << arguments;
    EXPECT_EQ(outcome.code, kWrongUsage) << arguments;
  }
  EXPECT_THAT(run("echo '{}' | %B/chipweave ranktable merge-hccl - - 2>&1").text,
              HasSubstr("-: standard input can be read only once"));
  EXPECT_EQ(
      run("echo gpu01 | %B/chipweave plan --network - --format csv --pods 1 --chips 1 --free 1 "
          "--overlay - 2>/dev/null")
          .code,
      kUnreadable);
}

TEST_F(InputForms, HostsAreRankedInTheFormThatTheyCameIn) {
  const auto ranked = [&](const std::string& hosts) {
    return run("printf '" + hosts + "' | %B/chipweave rank --network " + network_ +
               " --hosts - 2>/dev/null")
        .text;
  };
  EXPECT_EQ(ranked("gpu[01-04]\\n"), "gpu01\ngpu03\ngpu02\ngpu04\n");
  EXPECT_EQ(ranked("gpu[01-03]:8\\n"), "gpu01:8\ngpu03:8\ngpu02:8\n");
  EXPECT_EQ(ranked("gpu01\\ngpu01\\ngpu02\\ngpu02\\ngpu03\\n"),
            "gpu01\ngpu01\ngpu03\ngpu02\ngpu02\n");
  EXPECT_EQ(ranked("gpu[01-03].cluster.local\\n"),
            "gpu01.cluster.local\ngpu03.cluster.local\ngpu02.cluster.local\n");
}

TEST_F(InputForms, AmbiguousShortNamesAreNamed) {
  const std::string network =
      folder_.put("two.csv", "name,leaf\ngpu01.a,a\ngpu01.b,b\ngpu02.a,a\n");
  const Outcome ranked =
      run("printf 'gpu02\\ngpu01\\n' | %B/chipweave rank --network " + network + " --hosts - 2>&1");
  EXPECT_THAT(ranked.text,
              HasSubstr("warning: in the network, host \"gpu01\" could be gpu01.a or gpu01.b\n"));
  EXPECT_THAT(ranked.text, HasSubstr("at the end: gpu01 (1 of 2 hosts)"));
  const Outcome planned = run("%B/chipweave plan --network " + network +
                              " --free 8 --pods 1 --chips 8 --failed gpu01 2>&1");
  EXPECT_EQ(planned.code, kWrongUsage);
  EXPECT_EQ(planned.text, "chipweave: --failed: node \"gpu01\" could be gpu01.a or gpu01.b\n");
}

TEST_F(InputForms, FlagsOfPlanTakeHostLists) {
  const std::string plan = "%B/chipweave plan --network " + network_ + " --free 8 --chips 8 ";
  const Outcome listed =
      run(plan + "--pods 2 --existing 'gpu[01-02].site=1' --failed gpu02 " + "-o json 2>&1");
  EXPECT_EQ(listed.text, run(plan + "--pods 2 --existing a/gpu01=1 --existing b/gpu02=1 " +
                             "--failed b/gpu02 -o json 2>&1")
                             .text);
  EXPECT_EQ(listed.code, 0) << listed.text;
  EXPECT_THAT(complaint("chipweave plan --network " + network_ +
                        " --free 8 --pods 1 --chips 8 --failed 'gpu[01'")
                  .text,
              StartsWith("chipweave: --failed: host list \"gpu[01\": missing ]"));
  EXPECT_THAT(complaint("chipweave plan --network " + network_ +
                        " --free 8 --pods 1 --chips 8 --existing 'gpu[01-02]'")
                  .text,
              StartsWith("chipweave: --existing: expected PATH=PODS"));
}

TEST_F(InputForms, MachinesHaveOtherNames) {
  const std::string place = "%B/chipweave place --size 2 --machine ";
  EXPECT_EQ(run(place + "dgx-1v 2>&1").text, run(place + "hgx-v100-8 2>&1").text);
  EXPECT_EQ(run(place + "'DGX A100' 2>&1").code, 0);
  EXPECT_EQ(complaint("chipweave topo show v100").text,
            "chipweave: \"v100\" is one of several machines: hgx-v100-8, dgx2-v100-16; name one of "
            "them\n");
  EXPECT_THAT(complaint("chipweave topo show a10").text,
              HasSubstr("did you mean \"310\" or \"a100\"?"));
  EXPECT_THAT(run("%B/chipweave profiles").text, HasSubstr("hgx-v100-8: dgx-1v, "));
  EXPECT_THAT(run("%B/chipweave profiles -o json").text, HasSubstr("\"aliases\":[\"dgx-1v\","));
  // a file of that name comes first
  EXPECT_THAT(
      run("cd " + folder_.path() + " && cp box.txt a100 && %B/chipweave topo show a100 2>&1").text,
      HasSubstr("a100: nvidia, 2 chips"));
}

TEST_F(InputForms, RangesStandForTheirChips) {
  const std::string place = "%B/chipweave place --machine hgx-v100-8 ";
  EXPECT_EQ(run(place + "--free 0-3,6 --size 4 2>&1").text,
            run(place + "--free 0,1,2,3,6 --size 4 2>&1").text);
  EXPECT_THAT(run(place + "--chips 0-3 2>&1").text, HasSubstr("\n0-3 "));
  EXPECT_EQ(complaint("chipweave place --machine hgx-v100-8 --size 2 --free 3-0").text,
            "chipweave: --free: range \"3-0\" is reversed\n");
}

// Whatever reads JSON says what is wrong with it, and where.
TEST_F(InputForms, MistakesInJsonAreNamed) {
  struct Reader {
    std::string command;
    std::string json;
  };
  const std::vector<Reader> readers = {
      {"topo show -", R"({"vendor": "nvidia", "model": "x", "chips": [{"index": 0}]})"},
      {"network show -", R"({"levels": ["rack"], "nodes": [{"name": "a", "path": ["r"]}]})"},
      {"plan --network " + network_ + " --free 8 --gang -", R"({"pods": 2, "chips_per_pod": 8})"},
      {"defrag --network " + network_ + " --free 8 --pods -",
       R"([{"name": "a", "node": "gpu01", "chips": 1}])"},
      {"route plan --pods -", R"({"kind": "List", "items": [{"kind": "Pod"}]})"},
      {"place --machine hgx-v100-8 --size 2 --overlay -", R"({"format": "x", "vendor": "y"})"},
      {"place --batch -", R"({"id": 1, "machine": "hgx-v100-8", "size": 2})"},
      {"ranktable show -", R"({"version": "1.0", "server_list": [{"server_id": "a"}]})"},
  };
  for (const Reader& reader : readers) {
    std::string comma = reader.json;
    comma.insert(comma.rfind('}'), ",");
    std::string quotes = reader.json;
    for (char& c : quotes) c = c == '"' ? '\'' : c;
    const std::vector<std::pair<std::string, std::string>> cases = {
        {comma, "comma before '}'"},
        {quotes, "strings must be in double quotes"},
        {"// by hand\n" + reader.json, "JSON has no comments"},
        {"/* by hand */ " + reader.json, "JSON has no comments"},
    };
    for (const auto& [text, says] : cases) {
      const std::string file = folder_.put("in.json", text + "\n");
      const std::string out = run("%B/chipweave " + reader.command + " 2>&1 <" + file).text;
      EXPECT_THAT(out, HasSubstr(says)) << reader.command << "\n" << text;
      EXPECT_THAT(out, testing::ContainsRegex("line 1, column [0-9]+|:1:[0-9]+:"))
          << reader.command << "\n"
          << text;
    }
  }
}

}  // namespace
}  // namespace chipweave
