#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/component/programs/run.hpp"

namespace chipweave {
namespace {

using testing::HasSubstr;

const std::string kPlace = "chipweave place --machine hgx-v100-8 ";

TEST(CommandLine, AnAnswerThatCannotBeWrittenIsAnError) {
  const std::string request = R"('{"machine":"hgx-v100-8","size":2}')";
  for (const std::string& line :
       {std::string("%B/chipweave place --machine hgx-v100-8 --size 2"),
        std::string("%B/chipweave place --machine hgx-v100-8 --size 2 -o json"),
        "echo " + request + " | %B/chipweave place --batch -"}) {
    const Outcome full = run("{ " + line + "; } 2>&1 >/dev/full");
    EXPECT_EQ(full.code, kUnreadable) << line;
    EXPECT_THAT(full.text, HasSubstr("chipweave: the output could not be written")) << line;
  }
}

TEST(CommandLine, AnEmptyListOfChipsIsNeitherAllNorChipZero) {
  for (const char* flag : {"--free '' --size 1", "--chips ''"}) {
    const Outcome outcome = complaint(kPlace + flag);
    EXPECT_EQ(outcome.code, kWrongUsage) << flag;
    EXPECT_THAT(outcome.text, HasSubstr(": expected at least one chip, got none;")) << flag;
  }
  EXPECT_EQ(run("%B/" + kPlace + "--unhealthy '' --required '' --beside '' --size 1 --free 0").code,
            0);
}

TEST(CommandLine, ChipsAndLinksOfPlaceAreReadStrictly) {
  EXPECT_EQ(complaint(kPlace + "--chips 0,0").text,
            "chipweave: --chips: expected each chip once, got 0 twice\n");
  EXPECT_EQ(complaint(kPlace + "--size 2 --required 0,0").code, kWrongUsage);
  EXPECT_EQ(complaint(kPlace + "--size 2 --down 0-3:1z").code, kWrongUsage);
  EXPECT_EQ(complaint(kPlace + "--size 2 --down 0-3:1,1-2").text, "");
  EXPECT_THAT(complaint(kPlace + "--size 2 --down 0-5").text, HasSubstr("chipweave: warning: "));
}

TEST(CommandLine, PodsThatAreOnlyPrintedAreAListForKubectl) {
  const Outcome outcome = run(
      "printf 'apiVersion: batch/v1\\nkind: Job\\nmetadata: {name: train}\\nspec: {parallelism: 2, "
      "template: {spec: {containers: [{name: c}]}}}' | %B/chipweave submit - --print -n team");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, testing::StartsWith(R"({"apiVersion":"v1","kind":"List","items":[{)"));
  EXPECT_THAT(outcome.text, testing::EndsWith("}]}\n"));
  for (const char* part :
       {R"("kind":"Pod")", R"("name":"train-0")", R"("name":"train-1")", R"("namespace":"team")"}) {
    EXPECT_THAT(outcome.text, HasSubstr(part));
  }
  // That cluster does not have the Job.
  EXPECT_THAT(outcome.text, testing::Not(HasSubstr("ownerReferences")));
}

// The error, on one line of standard error.
void expect_usage_error(const std::string& arguments, const std::string& says) {
  const Outcome outcome = complaint(arguments);
  EXPECT_EQ(outcome.code, kWrongUsage) << arguments;
  EXPECT_THAT(outcome.text, testing::StartsWith("chipweave: ")) << arguments;
  EXPECT_THAT(outcome.text, HasSubstr(says)) << arguments;
  EXPECT_EQ(outcome.text.find('\n'), outcome.text.size() - 1) << outcome.text;
}

TEST(CommandLine, WrongUsageIsOneSentence) {
  expect_usage_error("chipweave", "a command is required; known: place");
  expect_usage_error("chipweave bogus", "unknown command \"bogus\"; known: ");
  expect_usage_error("chipweave sumbit x",
                     "unknown command \"sumbit\" (did you mean \"submit\"?); known: ");
  expect_usage_error("chipweave topo sho x",
                     "unknown command \"sho\" (did you mean \"show\"?); known: show, convert; see "
                     "'chipweave topo");
  expect_usage_error("chipweave --nonsense", "--nonsense");
  expect_usage_error("chipweave topo show", "see 'chipweave topo show --help'");
  expect_usage_error("chipweave topo show hgx-v100-8 -o xml", "-o: unknown form");
  expect_usage_error("chipweave topo show hgx-v100-8 -o 1", "-o: unknown form");
  expect_usage_error("chipweave topo show hgx-v100-8 --index -1",
                     "--index: expected a whole number from 0, got \"-1\"");
  expect_usage_error("chipweave topo show hgx-v100-8 --index 1",
                     "--index: must be 0: hgx-v100-8 has one");
  expect_usage_error("chipweave submit x --scheduler a:1 -n a.b", "-n: expected a namespace");
}

TEST(CommandLine, SubmitReadsStandardInputAndWantsPods) {
  const std::string submit = "%B/chipweave submit - --scheduler 127.0.0.1:1 2>&1 ";
  Outcome outcome = run("printf 'a: [' | " + submit);
  EXPECT_EQ(outcome.code, kUnreadable);
  EXPECT_THAT(outcome.text, HasSubstr("chipweave: standard input: line 1"));
  outcome = run(submit + "</dev/null");
  EXPECT_EQ(outcome.code, kUnreadable);
  EXPECT_EQ(outcome.text,
            "chipweave: there are no pods in standard input, so nothing was submitted\n");
  outcome = run("printf '\\377\\376\\000' | " + submit);
  EXPECT_EQ(outcome.code, kUnreadable);
  EXPECT_THAT(outcome.text, HasSubstr("not UTF-8 text"));
}

}  // namespace
}  // namespace chipweave
