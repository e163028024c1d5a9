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
    const Outcome said = complaint(kPlace + flag);
    EXPECT_EQ(said.code, kWrongUsage) << flag;
    EXPECT_THAT(said.text, HasSubstr(": expected at least one chip, got none;")) << flag;
  }
  EXPECT_EQ(run("%B/" + kPlace + "--unhealthy '' --required '' --beside '' --size 1 --free 0").code,
            0);
}

TEST(CommandLine, ChipsAndLinksOfPlaceAreReadStrictly) {
  EXPECT_EQ(complaint(kPlace + "--chips 0,0").text, "chipweave: --chips: chip 0 is named twice\n");
  EXPECT_EQ(complaint(kPlace + "--size 2 --required 0,0").code, kWrongUsage);
  EXPECT_EQ(complaint(kPlace + "--size 2 --down 0-3:1z").code, kWrongUsage);
  EXPECT_EQ(complaint(kPlace + "--size 2 --down 0-3:1,1-2").text, "");
  EXPECT_THAT(complaint(kPlace + "--size 2 --down 0-5").text, HasSubstr("chipweave: warning: "));
}

TEST(CommandLine, PodsThatAreOnlyPrintedAreAListForKubectl) {
  const Outcome said = run(
      "printf 'apiVersion: batch/v1\\nkind: Job\\nmetadata: {name: train}\\nspec: {parallelism: 2, "
      "template: {spec: {containers: [{name: c}]}}}' | %B/chipweave submit - --print -n team");
  EXPECT_EQ(said.code, 0) << said.text;
  EXPECT_THAT(said.text, testing::StartsWith(R"({"apiVersion":"v1","kind":"List","items":[{)"));
  EXPECT_THAT(said.text, testing::EndsWith("}]}\n"));
  for (const char* part :
       {R"("kind":"Pod")", R"("name":"train-0")", R"("name":"train-1")", R"("namespace":"team")"}) {
    EXPECT_THAT(said.text, HasSubstr(part));
  }
  // That cluster does not have the Job.
  EXPECT_THAT(said.text, testing::Not(HasSubstr("ownerReferences")));
}

// The error, on one line of standard error.
void expect_usage_error(const std::string& arguments, const std::string& says) {
  const Outcome said = complaint(arguments);
  EXPECT_EQ(said.code, kWrongUsage) << arguments;
  EXPECT_THAT(said.text, testing::StartsWith("chipweave: ")) << arguments;
  EXPECT_THAT(said.text, HasSubstr(says)) << arguments;
  EXPECT_EQ(said.text.find('\n'), said.text.size() - 1) << said.text;
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
  Outcome said = run("printf 'a: [' | " + submit);
  EXPECT_EQ(said.code, kUnreadable);
  EXPECT_THAT(said.text, HasSubstr("chipweave: standard input: line 1"));
  said = run(submit + "</dev/null");
  EXPECT_EQ(said.code, kUnreadable);
  EXPECT_EQ(said.text,
            "chipweave: there are no pods in standard input, so nothing was submitted\n");
  said = run("printf '\\377\\376\\000' | " + submit);
  EXPECT_EQ(said.code, kUnreadable);
  EXPECT_THAT(said.text, HasSubstr("not UTF-8 text"));
}

}  // namespace
}  // namespace chipweave
