// chipweave rank by flags, as scripts see it: the ordered hostfile, text, JSON, exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/component/programs/run.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class RankCommand : public testing::Test {
 protected:
  // `hosts` with \n between lines, from standard input.
  Outcome rank(const std::string& hosts, const std::string& flags) const {
    return run("printf '" + hosts + "' | %B/chipweave rank --network " + network_ + " --hosts - " +
               flags);
  }
  // One line on standard error, and nothing on standard output.
  void expect_refused(const std::string& hosts, const std::string& flags, int code,
                      const std::string& says) const {
    const Outcome outcome = rank(hosts, flags + " 2>&1 >/dev/null");
    EXPECT_EQ(outcome.code, code) << hosts << flags;
    EXPECT_THAT(outcome.text, StartsWith("chipweave: " + says)) << hosts << flags;
    EXPECT_EQ(outcome.text.find('\n'), outcome.text.size() - 1) << outcome.text;
    EXPECT_EQ(rank(hosts, flags + " 2>/dev/null").text, "") << hosts << flags;
  }

  const io::TempFolder folder_;
  // Three leaves of three nodes below one spine.
  const std::string network_ =
      folder_.put("network.csv",
                  "name,spine,leaf\nn1,s,a\nn2,s,a\nn3,s,a\nn4,s,b\nn5,s,b\nn6,s,b\n"
                  "n7,s,c\nn8,s,c\nn9,s,c\n");
};

TEST_F(RankCommand, PrintsTheHostfileInOrderAndWhatItIsGoodFor) {
  const std::string hosts = "# mine\\nn4 slots=8\\nn1 slots=8 # first\\nn5 slots=8\\nn2 slots=8\\n";
  const Outcome out = rank(hosts, "2>/dev/null");
  EXPECT_EQ(out.code, 0);
  EXPECT_EQ(out.text, "n4 slots=8\nn5 slots=8\nn1 slots=8\nn2 slots=8\n");
  EXPECT_EQ(rank(hosts, "2>&1 >/dev/null").text,
            "chipweave: note: Ring crossings: spine 0 (as given 0), leaf 2 (as given 4)\n");
}

TEST_F(RankCommand, JsonIsTheAnswerOfTheBatchForm) {
  const Outcome json = rank("n4\\nn1\\nn5\\nn2\\n", "-o json 2>&1");
  EXPECT_EQ(json.code, 0);
  EXPECT_EQ(json.text,
            R"({"id":null,"order":["n4","n5","n1","n2"],"crossings":{"spine":0,"leaf":2},)"
            R"("input_crossings":{"spine":0,"leaf":4}})"
            "\n");
}

TEST_F(RankCommand, CommunicatorsWeighTheOrder) {
  const std::string hosts = "n1\\nn2\\nn3\\nn4\\nn5\\nn7\\nn8\\nn9\\n";
  const Outcome words = rank(hosts, "--context 2 --data 4 2>&1 >/dev/null");
  EXPECT_THAT(words.text, HasSubstr("note: cost of the communicators: "));
  EXPECT_THAT(words.text, HasSubstr(", proven the least\n"));
  // Slots are ranks of a host.
  EXPECT_EQ(rank("n1 slots=8\\nn2 slots=8\\n", "--tensor 8 --data 2 2>/dev/null").code, 0);
  EXPECT_EQ(rank("n1\\nn2\\n", "--tensor 8 --ranks-per-pod 8 2>/dev/null").code, 0);
  EXPECT_EQ(rank("n1\\nn2 slots=4\\n", "2>/dev/null").code, 0);  // irrelevant without communicators
  const Outcome json = rank("n1\\nn2\\n", "--pipeline 2 -o json 2>&1");
  EXPECT_THAT(json.text, HasSubstr(R"("communicators":{)"));
  EXPECT_THAT(json.text, HasSubstr(R"("pipeline":)"));
}

TEST_F(RankCommand, HostsOutsideTheNetworkComeLastWithAWarning) {
  const Outcome out = rank("x1\\nn4\\nx2\\nn5\\n", "2>&1");
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr("n4\nn5\nx1\nx2\n"));
  EXPECT_THAT(out.text, HasSubstr("chipweave: warning: not in the network, so at the end: x1, x2 "
                                  "(2 of 4 hosts)\n"));
}

TEST_F(RankCommand, RefusesWhatMakesNoSense) {
  expect_refused("x1\\n", "", kWrongUsage,
                 "--hosts: expected nodes of the network, got other hosts only, such as \"x1\"");
  expect_refused("n1\\nn2\\n", "--tensor 0", kWrongUsage, "communicators.tensor: must be 1 to");
  expect_refused("n1\\nn2\\n", "--tensor 3", kWrongUsage, "communicators: tensor: must divide ");
  expect_refused("n1\\nn2\\n", "--ranks-per-pod 0", kWrongUsage, "communicators.ranks_per_pod: ");
  expect_refused("n1\\nn2 slots=4\\n", "--data 2", kWrongUsage,
                 "--hosts: expected the same number of ranks on every host");
  expect_refused("n1 slots=4\\n", "--ranks-per-pod 8", kWrongUsage,
                 "--hosts: expected the same number of ranks on every host");
  expect_refused("n1\\n", "--format csw", kWrongUsage, "--format: unknown format");
  expect_refused("n1\\n", "--levels x", kWrongUsage, "--levels cannot be combined with ");
  expect_refused("n1\\n", "--network -", kWrongUsage, "--network: ");
  expect_refused("n1\\n", "--batch -", kWrongUsage, "--");
  EXPECT_EQ(complaint("chipweave rank --hosts x").code, kWrongUsage);
  EXPECT_THAT(complaint("chipweave rank --network - --hosts -").text,
              HasSubstr("--network - cannot be combined with --hosts -"));
}

TEST_F(RankCommand, FilesThatCannotBeReadExitThree) {
  expect_refused("", "", kUnreadable, "standard input: the file has no hosts");
  expect_refused("n1 slot=8\\n", "", kUnreadable,
                 "standard input: line 1: expected NAME, NAME slots=N or NAME:N, got");
  expect_refused("n1:1\\nn1:1\\n", "", kUnreadable,
                 "standard input: line 2: duplicate host \"n1\", first at line 1");
  EXPECT_EQ(complaint("chipweave rank --network /no/such/file --hosts -").code, kUnreadable);
  EXPECT_EQ(complaint("chipweave rank --network " + network_ + " --hosts /no/such/file").code,
            kUnreadable);
  EXPECT_EQ(rank("n1\\n", "2>/dev/null >/dev/full").code, kUnreadable);
}

}  // namespace
}  // namespace chipweave
