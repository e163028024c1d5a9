// chipweave calibrate and --overlay, as scripts see them: tables, files, exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/component/agent_hardware/program.hpp"
#include "tests/component/programs/run.hpp"
#include "tests/support/number_after.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/calibration/log_text.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {
namespace {

using test::HcclLog;
using test::NcclLog;
using testing::HasSubstr;
using testing::Not;

constexpr int kRefused = 1;

TEST(CalibrateCommand, WritesAnOverlayThatOtherCommandsTake) {
  const io::TempFolder folder;
  const std::string log = folder.put("a100.log", NcclLog{}.text());
  const std::string overlay = folder.at("a100.json");
  const Outcome out = run("%B/chipweave calibrate nccl-tests " + log + " --out " + overlay);
  EXPECT_EQ(out.code, 0);
  EXPECT_EQ(out.text,
            "machine hgx-a100-8, A100-SXM4, NVIDIA A100-SXM4-40GB\n"
            "\n"
            "CHIPS  COLLECTIVE  SIZES          DECIDED BY  MEASURED  BEFORE     OFF  AFTER    OFF\n"
            "0-7    all_reduce  512 MiB-8 GiB  NVSWITCH         232     240  +3.4 %    232  0.0 %\n"
            "\n"
            "CONSTANT          GB/s BEFORE  GB/s AFTER  POINTS\n"
            "NVSWITCH, a lane           20       19.33       1\n");
  const std::string place = "%B/chipweave place --machine hgx-a100-8 --size 4 -o json --overlay ";
  EXPECT_THAT(run(place + overlay).text, HasSubstr("\"gbps\":231.996"));
  EXPECT_THAT(run(place + folder.path() + " 2>&1").text, HasSubstr("\"gbps\":231.996"));
  EXPECT_THAT(run("%B/chipweave topo show hgx-a100-8 -o json --overlay " + overlay).text,
              HasSubstr("19.333"));
  const std::string plan =
      R"(echo '{"levels":["rack"],"nodes":[{"name":"x","path":["r"],"machine":"hgx-a100-8"}]}' | )"
      "%B/chipweave plan --network - --pods 1 --chips 8 -o json";
  EXPECT_THAT(run(plan + " 2>&1").text, HasSubstr("240"));
  EXPECT_THAT(run(plan + " --overlay " + overlay + " 2>&1").text, HasSubstr("231.996"));
}

TEST(CalibrateCommand, PrintsTheOverlayAsJson) {
  const io::TempFolder folder;
  const std::string log = folder.put("a100.log", NcclLog{}.text());
  const std::string file = folder.at("a100.json");
  const Outcome out = run("%B/chipweave calibrate nccl-tests " + log + " -o json --out " + file);
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr("\"format\": \"chipweave-profile-overlay/1\""));
  EXPECT_EQ(run("cat " + file).text, out.text);
}

TEST(CalibrateCommand, RefusesLogsWithTheReasonAndWritesNothing) {
  const io::TempFolder folder;
  NcclLog wrong;
  wrong.wrong = 1;
  const std::string log = folder.put("bad.log", wrong.text());
  const Outcome refused = complaint("chipweave calibrate nccl-tests " + log +
                                    " --machine hgx-a100-8 --out " + folder.at("bad.json"));
  EXPECT_EQ(refused.code, kRefused);
  EXPECT_THAT(refused.text, HasSubstr("file bad.log: line 22: results are wrong"));
  EXPECT_NE(run("cat " + folder.at("bad.json") + " 2>&1").code, 0);
  NcclLog open;
  open.ends = false;
  const Outcome both = complaint("chipweave calibrate nccl-tests " + log + " " +
                                 folder.put("cut.log", open.text()) + " --machine hgx-a100-8");
  EXPECT_THAT(both.text, HasSubstr("\nchipweave: file cut.log: run at line 1: the table is cut"));
  const std::string text = folder.put("text.log", "hello\n");
  const Outcome unreadable = complaint("chipweave calibrate rccl-tests " + text);
  EXPECT_EQ(unreadable.code, kUnreadable);
  EXPECT_THAT(unreadable.text, HasSubstr("file text.log: no run of nccl-tests or rccl-tests"));
}

TEST(CalibrateCommand, AsksForTheMachineWhereTheLogDoesNotTell) {
  const io::TempFolder folder;
  HcclLog log;
  log.before = "mpirun -n 8 ./bin/all_reduce_test -p 8 -b 128M -e 2G -f 2\n";
  const std::string file = folder.put("910b.log", log.text());
  const Outcome asked = complaint("chipweave calibrate hccl-test " + file);
  EXPECT_EQ(asked.code, kWrongUsage);
  EXPECT_THAT(asked.text, HasSubstr("--machine: required"));
  const Outcome out = run("%B/chipweave calibrate hccl-test " + file + " --machine ascend-910b-8");
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr("HCCS, a lane           28       21.43       1"));
}

// From a log to the number that a pod gets: agent, scheduler with the overlay, submit.
TEST(CalibrateCommand, TheSchedulerPredictsWithTheOverlay) {
  const io::TempFolder folder;
  const std::string overlay = folder.at("a100.json");
  ASSERT_EQ(run("%B/chipweave calibrate nccl-tests " + folder.put("a100.log", NcclLog{}.text()) +
                " --out " + overlay)
                .code,
            0);
  const std::string ports = folder.at("ports");
  const Program scheduler({"chipweave-scheduler", "--standalone", "--http", "127.0.0.1:0", "--grpc",
                           "127.0.0.1:0", "--profile-overlays", overlay, "--port-file", ports},
                          {}, folder.at("scheduler.log"));
  const auto port = [&ports](const char* key) {
    return std::to_string(
        test::number_after(test::file_content(ports).value_or(""), key).value_or(0));
  };
  ASSERT_TRUE(eventually([&] { return port("\"http\":") != "0"; })) << scheduler.log();
  const Program agent({"chipweave-agent", "--node", "n1", "--probe", "profile:hgx-a100-8",
                       "--scheduler", "127.0.0.1:" + port("\"grpc\":"), "--metrics", "127.0.0.1:0"},
                      {}, folder.at("agent.log"));
  const std::string at = " --scheduler http://127.0.0.1:" + port("\"http\":");
  ASSERT_TRUE(eventually([&] {
    return run("%B/chipweave nodes" + at + " 2>&1").text.find("n1") != std::string::npos;
  })) << agent.log();
  const std::string pod = folder.put(
      "pod.yaml",
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n"
      "    image: i\n    resources: {limits: {nvidia.com/gpu: 8}}\n");
  const Outcome placed =
      run("%B/chipweave submit " + pod + at + " -o json --compare --overlay " + overlay);
  EXPECT_EQ(placed.code, 0) << scheduler.log();
  EXPECT_THAT(placed.text, HasSubstr("\"gbps\":231.996"));
  EXPECT_THAT(placed.text, Not(HasSubstr("240")));
}

TEST(CalibrateCommand, OverlaysThatCannotBeTrueAreRefusedEverywhere) {
  const io::TempFolder folder;
  const std::string overlay = folder.put(
      "a.json",
      R"({"format":"chipweave-profile-overlay/1","vendor":"nvidia","models":["A100-SXM4"],)"
      R"("gbps_per_lane":{"NVSWITCH":{"gbps":191,"replaces":20}}})");
  for (const std::string command :
       {"chipweave place --machine hgx-a100-8 --size 4 --overlay ",
        "chipweave topo show hgx-a100-8 --overlay ",
        "chipweave-scheduler --standalone --http 127.0.0.1:0 --grpc off --profile-overlays "}) {
    const Outcome refused = complaint(command + overlay);
    EXPECT_EQ(refused.code, kUnreadable) << command;
    EXPECT_THAT(refused.text, HasSubstr("a.json: gbps_per_lane.NVSWITCH.gbps: must be between"));
  }
}

}  // namespace
}  // namespace chipweave
