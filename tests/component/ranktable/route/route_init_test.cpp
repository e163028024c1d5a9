// chipweave route init as init containers start it: each pod separately, all with the same result.
#include <gmock/gmock.h>

#include "tests/component/ranktable/route/job.hpp"

namespace chipweave {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RouteInit : public RouteJob {
 protected:
  void SetUp() override {
    folder_.put("tmp/keep", "");
    ASSERT_EQ(route("plan --pods " + pods_ + " --network " + network_ + " --out " + at("plan") +
                    " >/dev/null")
                  .code,
              0);
  }
  // The output for the pod with this index; its files are in tmp afterwards.
  Outcome init(std::size_t index, const std::string& flags) const {
    return run("VC_TASK_INDEX=" + std::to_string(index) + " %B/chipweave route init --dir " +
               at("tmp") + (flags.find("--wait") == std::string::npos ? " --wait 0 " : " ") +
               flags + " 2>&1");
  }
  // "rank/master" of every pod, as the job script reads it.
  std::vector<std::string> ranks(const std::string& flags) const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < machines().size(); ++i) {
      EXPECT_EQ(init(i, flags).code, 0) << flags;
      out.push_back(run("printf '%s/%s' $(cat " + at("tmp/RANK_AFTER_ACC") + ") $(cat " +
                        at("tmp/MASTER_INDEX") + ")")
                        .text);
    }
    return out;
  }
  void copy(const std::string& from, const std::string& to) const {
    folder_.put(to, content(from));
  }
  void expect_no_files() const { EXPECT_EQ(run("ls " + at("tmp")).text, "keep\n"); }
};

TEST_F(RouteInit, AllPodsComeToThePlanWhateverTheyReadItFrom) {
  const auto planned = ElementsAre("3/1", "0/1", "4/1", "1/1", "2/1", "5/1");
  EXPECT_THAT(ranks("--config " + at("plan")), planned);
  copy("plan/ranktable_tor.json", "tors/ranktable_tor.json");
  EXPECT_THAT(ranks("--config " + at("tors")), planned);
  copy("plan/jobstart_hccl.json", "start/jobstart_hccl.json");
  EXPECT_THAT(ranks("--replicas 6 --config " + at("start")), planned);
  EXPECT_THAT(ranks("--network " + network_ + " --config " + at("tors")), planned);
  std::string hosts;
  for (const std::string& machine : machines()) hosts += machine + "\n";
  folder_.put("hosts", hosts);
  EXPECT_THAT(ranks("--network " + network_ + " --hosts " + at("hosts")), planned);
}

TEST_F(RouteInit, ReadsWhatConfigMapsHold) {
  // The value of ranktable_tor.json, compressed as in the mounted file.
  ASSERT_EQ(run("mkdir " + at("packed") +
                " && sed -n 's/^  \"ranktable_tor.json\": \"\\(.*\\)\"$/\\1/p' " +
                at("plan/torlist-j.yaml") + " > " + at("packed/ranktable_tor.json"))
                .code,
            0);
  EXPECT_THAT(content("packed/ranktable_tor.json"), testing::StartsWith("H4sI"));
  EXPECT_THAT(init(4, "--config " + at("packed")).text,
              HasSubstr("pod 4 has new rank 2; the master is pod 1"));
}

TEST_F(RouteInit, WaitsUntilTheTableIsComplete) {
  folder_.put("late/jobstart_hccl.json", R"({"status":"initializing"})");
  const Outcome over = init(1, "--config " + at("late"));
  EXPECT_EQ(over.code, 1);
  EXPECT_THAT(over.text, HasSubstr("were not complete within 0: a table is still initializing"));
  expect_no_files();
  copy("plan/ranktable_tor.json", "late/ranktable_tor.json");
  copy("plan/jobstart_hccl.json", "next");
  const Outcome late = run("VC_TASK_INDEX=1 %B/chipweave route init --wait 5m --dir " + at("tmp") +
                           " --config " + at("late") + " 2>&1 & mv " + at("next") + " " +
                           at("late/jobstart_hccl.json") + "; wait $!");
  EXPECT_EQ(late.code, 0);
  EXPECT_EQ(content("tmp/RANK_AFTER_ACC"), "0\n");
  EXPECT_EQ(content("tmp/MASTER_INDEX"), "1\n");
}

TEST_F(RouteInit, WaitsForAllPodsThatThereWillBe) {
  const Outcome more = init(1, "--replicas 7 --config " + at("plan"));
  EXPECT_EQ(more.code, 1);
  EXPECT_THAT(more.text, HasSubstr("route_plan.json is of 6 pods"));
}

TEST_F(RouteInit, WaitsWhileTablesAreOfDifferentStatesOfTheJob) {
  std::string moved = content("plan/jobstart_hccl.json");
  moved.replace(moved.find("10.1.0.6"), 8, "10.1.0.7");
  folder_.put("plan/jobstart_hccl.json", moved);
  const Outcome out = init(1, "--config " + at("plan"));
  EXPECT_EQ(out.code, 1);
  EXPECT_THAT(out.text, HasSubstr("the two tables are of different machines"));
}

TEST_F(RouteInit, KeepsTheOrderWithoutFilesWhereThereIsNothingToPlan) {
  folder_.put("tmp/RANK_AFTER_ACC", "7");  // of a former run of the container
  folder_.put("tmp/MASTER_INDEX", "7");
  folder_.put("off.json", pods(false));
  ASSERT_EQ(
      route("plan --pods " + at("off.json") + " --out " + at("off") + " >/dev/null 2>&1").code, 0);
  const Outcome off = init(2, "--config " + at("off"));
  EXPECT_EQ(off.code, 0);
  EXPECT_THAT(off.text, HasSubstr("the tables contain no switches"));
  expect_no_files();
  folder_.put("one", "10.1.0.1\n");
  const Outcome one = init(0, "--network " + network_ + " --hosts " + at("one"));
  EXPECT_EQ(one.code, 0);
  EXPECT_THAT(one.text, HasSubstr("all pods are on one machine"));
  folder_.put("strange", "a\nb\n");
  const Outcome strange = init(0, "--network " + network_ + " --hosts " + at("strange"));
  EXPECT_EQ(strange.code, 0);
  EXPECT_THAT(strange.text, HasSubstr("no switch is known"));
  expect_no_files();
}

TEST_F(RouteInit, SentencesForWhatIsWrong) {
  const auto refused = [&](std::size_t index, const std::string& flags, int code,
                           const std::string& says) {
    const Outcome out = init(index, flags);
    EXPECT_EQ(out.code, code) << flags << out.text;
    EXPECT_THAT(out.text, HasSubstr(says)) << flags;
    expect_no_files();
  };
  refused(6, "--config " + at("plan"), 2,
          "--index: must be 0 to 5: route_plan.json has 6 pods; got 6");
  refused(0, "--wait soon", 2,
          "--wait: expected a time of at most 24h, such as 30m, 90s or 1h, got \"soon\"");
  refused(0, "--wait 25h", 2, "--wait: expected a time of at most 24h");
  refused(0, "--hosts x", 2, "--hosts requires --network");
  copy("plan/jobstart_hccl.json", "start/jobstart_hccl.json");
  refused(0, "--config " + at("start"), 2, "--replicas is required");
  refused(0, "--replicas 12 --config " + at("start"), 3, "6 machines for 12 pods");
  folder_.put("bad/ranktable_tor.json", "{");
  refused(0, "--config " + at("bad"), 3, "folder " + at("bad") + ": ranktable_tor.json: ");
  folder_.put("bad/ranktable_tor.json", "H4sI!");
  refused(0, "--config " + at("bad"), 3, "must be JSON or base64 of gzip");
  std::string names = content("plan/ranktable_tor.json");
  names.replace(names.find("j-worker-0"), 10, "j-worker-1");
  folder_.put("bad/ranktable_tor.json", names);
  refused(0, "--config " + at("bad"), 3, "each once, and \"j-worker-1\" does not");
  refused(0, "--config " + at("absent"), 1, "there is no table yet");
  const Outcome out =
      run("env -u VC_TASK_INDEX %B/chipweave route init --dir " + at("tmp") + " 2>&1");
  EXPECT_EQ(out.code, 2);
  EXPECT_THAT(out.text, HasSubstr("--index is required"));
}

}  // namespace
}  // namespace chipweave
