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

class SimulateGangs : public testing::Test {
 protected:
  Outcome simulate(const std::string& flags) const {
    return run("%B/chipweave simulate --network " + network_ + " " + flags);
  }
  void expect_refused(const std::string& flags, int code, const std::string& says) const {
    const Outcome outcome = simulate(flags + " 2>&1 >/dev/null");
    EXPECT_EQ(outcome.code, code) << flags;
    EXPECT_THAT(outcome.text, StartsWith("chipweave: ")) << flags;
    EXPECT_THAT(outcome.text, HasSubstr(says)) << flags;
    EXPECT_EQ(outcome.text.find('\n'), outcome.text.size() - 1) << outcome.text;
  }

  const io::TempFolder folder_;
  const std::string network_ =
      folder_.put("net.csv", "name,block,rack\nn1,b1,r1\nn2,b1,r1\nn3,b1,r2\nn4,b1,r2\n");
  // The second waits for the first and the third for the second, by --patience 0.
  const std::string jobs_ = folder_.put("jobs.csv",
                                        "name,pods,chips,required_level,arrival_s,duration_s\n"
                                        "a,3,8,,0,100\nb,2,8,rack,10,50\nc,1,8,,20,30\n");
};

TEST_F(SimulateGangs, ReplaysTheJobsOfAFile) {
  const Outcome json =
      simulate("--free 8 --patience 0 --policies chipweave -o json --jobs " + jobs_);
  EXPECT_EQ(json.code, 0);
  EXPECT_THAT(json.text, HasSubstr(R"("nodes":4,"chips":32,"levels":["block","rack"])"));
  EXPECT_THAT(json.text, HasSubstr(R"("arrived":3,"started":3,"never_fit":0,"refused":0)"));
  EXPECT_THAT(json.text, HasSubstr(R"("end_s":150.0)"));
  EXPECT_THAT(json.text, HasSubstr(R"("waited":2,"most_waiting":2,"wait_s":{"mean":56.66)"));
  EXPECT_THAT(json.text,
              HasSubstr(R"({"level":"rack","crossings":2,"domains":4,"fewest":4,"alone":4})"));
  const Outcome patient = simulate("--free 8 --policies chipweave -o json --jobs " + jobs_);
  EXPECT_THAT(patient.text, HasSubstr(R"("waited":1,"most_waiting":1,"wait_s":{"mean":30.0)"));
}

TEST_F(SimulateGangs, DrawsTheSameForTheSameSeed) {
  const std::string steady =
      "--free 8 --count 200 --seed 5 --preferred rack -o json"
      " | sed 's/\"decision_us\":{[^}]*}//g'";
  const Outcome once = simulate(steady);
  EXPECT_EQ(once.code, 0);
  EXPECT_THAT(once.text, HasSubstr("of 1 to 32 chips (powers of two, all equally likely)"));
  EXPECT_EQ(simulate(steady).text, once.text);
  for (const char* flags : {"--sizes log-uniform --smallest 2 --largest 20 --pod-chips 4 --load 50",
                            "--arrival-rate 60 --duration 60 --count 20"}) {
    const Outcome other = simulate(std::string("--free 8 ") + flags);
    EXPECT_EQ(other.code, 0) << flags;
    for (const char* says : {"best-fit", "chipweave", "WAIT MEAN s", "CROSSINGS", "queue: "})
      EXPECT_THAT(other.text, HasSubstr(says)) << flags;
  }
}

TEST_F(SimulateGangs, JobsMayHaveNoTimesAndTracesOfPodsAreJobs) {
  const std::string pods = folder_.put("pods.csv",
                                       "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
                                       "p,1000,1000,8,1000\nq,1000,1000,0,0\n");
  const Outcome text = simulate("--free 8 --count 30 --jobs " + pods);
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.text, HasSubstr("30 jobs drawn from the file (seed 1)"));
  EXPECT_THAT(text.text, HasSubstr("which are left out: 1"));
}

TEST_F(SimulateGangs, WrongFlagsAndFiles) {
  expect_refused("", kWrongUsage, "--free is required");
  expect_refused("--free 8 --nodes x", kWrongUsage, "--nodes");
  expect_refused("--free 8 --html x", kWrongUsage, "--html");
  expect_refused("--free 8 --policies fgd", kWrongUsage,
                 "known: best-fit, fullest-domain, chipweave");
  expect_refused("--free 8 --required rak", kWrongUsage,
                 "--required: unknown level \"rak\" (did you mean \"rack\"?)");
  expect_refused("--free 8 --sizes normal", kWrongUsage, "--sizes: unknown distribution");
  expect_refused("--free 8 --smallest 5 --largest 7", kWrongUsage, "expected a power of two from");
  expect_refused("--free 8 --smallest 9 --largest 7", kWrongUsage, "--largest: expected at least");
  expect_refused("--free 8 --largest 6400000 --pod-chips 1", kWrongUsage, "--largest");
  expect_refused("--free 8 --patience nan", kWrongUsage, "--patience");
  expect_refused("--free 8 --load 50 --arrival-rate 5", kWrongUsage, "--load");
  expect_refused("--free 8 --count 5 --jobs " + jobs_, kWrongUsage, "--count requires --load");
  expect_refused("--free 8 --smallest 2 --jobs " + jobs_, kWrongUsage, "--jobs cannot be");
  expect_refused("--free 0", 1, "nothing to simulate");
  const std::string wrong = folder_.put("wrong.csv", "name,chips\na,8\nb,x\n");
  expect_refused("--free 8 --jobs " + wrong, kUnreadable,
                 "wrong.csv: line 3: \"chips\": expected a whole number");
  const Outcome none = complaint("chipweave simulate");
  EXPECT_EQ(none.code, kWrongUsage);
  EXPECT_THAT(none.text, HasSubstr("one of --network FILE, or --nodes FILE and --pods FILE"));
  EXPECT_THAT(complaint("chipweave simulate --nodes a --pods b --patience 5").text,
              HasSubstr("--patience"));
}

}  // namespace
}  // namespace chipweave
