// chipweave simulate as scripts see it: text, JSON, HTML, exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/component/programs/run.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class SimulateCommand : public testing::Test {
 protected:
  Outcome simulate(const std::string& flags) const {
    return run("%B/chipweave simulate --nodes " + nodes_ + " --pods " + pods_ + " " + flags);
  }
  void expect_refused(const std::string& flags, int code, const std::string& says) const {
    const Outcome outcome = simulate(flags + " 2>&1 >/dev/null");
    EXPECT_EQ(outcome.code, code) << flags;
    EXPECT_THAT(outcome.text, StartsWith("chipweave: ")) << flags;
    EXPECT_THAT(outcome.text, HasSubstr(says)) << flags;
    EXPECT_EQ(outcome.text.find('\n'), outcome.text.size() - 1) << outcome.text;
  }

  const io::TempFolder folder_;
  const std::string nodes_ = folder_.put(
      "nodes.csv",
      "sn,cpu_milli,memory_mib,gpu,model\na,96000,393216,8,H100\nb,96000,393216,8,T4\n");
  const std::string pods_ = folder_.put(
      "pods.csv",
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1000,1000,8,1000\nq,1000,1000,1,500\n");
};

TEST_F(SimulateCommand, PrintsTheSameForTheSameSeed) {
  const std::string steady =
      " --policies fgd,chipweave -o json | sed 's/\"decision_us\":{[^}]*}//g'";
  const Outcome once = simulate("--seed 5" + steady);
  EXPECT_EQ(once.code, 0);
  EXPECT_THAT(once.text, HasSubstr(R"("nodes":2,"chips":16)"));
  EXPECT_EQ(simulate("--seed 5" + steady).text, once.text);
}

TEST_F(SimulateCommand, TextNamesPoliciesGoalsAndAssumptions) {
  const Outcome text = simulate("--arrival-rate 60 --duration 600 --count 50");
  EXPECT_EQ(text.code, 0);
  for (const char* says : {"first-fit", "chipweave", "WAITING", "reached: ", "count as one chip"})
    EXPECT_THAT(text.text, HasSubstr(says));
}

TEST_F(SimulateCommand, WritesThePage) {
  const std::string page = folder_.path() + "/report.html";
  EXPECT_EQ(simulate("--html " + page + " >/dev/null").code, 0);
  EXPECT_THAT(test::file_content(page).value_or(""), StartsWith("<!doctype html>"));
  expect_refused("--html /no/such/folder/x.html", kUnreadable, "/no/such/folder/x.html");
}

TEST_F(SimulateCommand, WrongFlagsAndFiles) {
  expect_refused("--policies fgdd", kWrongUsage, "did you mean \"fgd\"");
  expect_refused("--machines H100=nothing", kWrongUsage, "--machines: ");
  expect_refused("--machines X=pcie", kWrongUsage, "no node has the model \"X\"");
  expect_refused("--arrival-rate 5", kWrongUsage, "belong together");
  expect_refused("--load 50 --arrival-rate 5 --duration 5", kWrongUsage, "--load");
  expect_refused("--load 0", kWrongUsage, "--load");
  expect_refused("--tolerance nan", kWrongUsage, "--tolerance");
  const std::string wrong = folder_.put("wrong.csv", "name,cpu_milli,memory_mib,chips\na,1,1,x\n");
  const Outcome line =
      run("%B/chipweave simulate --nodes " + wrong + " --pods " + pods_ + " 2>&1 >/dev/null");
  EXPECT_EQ(line.code, kUnreadable);
  EXPECT_THAT(line.text, HasSubstr("wrong.csv: line 2: \"chips\": expected a whole number"));
}

}  // namespace
}  // namespace chipweave
