// chipweave plan by flags, as scripts see it: table, JSON, exit codes, which stream.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/component/programs/run.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr int kDoesNotFit = 1;

// Two leaves of four nodes below each of two spines.
const std::string kFourNodes =
    R"(printf 'SwitchName=c Switches=s[1-2]\nSwitchName=s1 Switches=l[1-2]\n)"
    R"(SwitchName=s2 Switches=l[3-4]\nSwitchName=l1 Nodes=n[1-4]\nSwitchName=l2 Nodes=n[5-8]\n)"
    R"(SwitchName=l3 Nodes=n[9-12]\nSwitchName=l4 Nodes=n[13-16]\n' | )"
    "%B/chipweave plan --network - ";
// chipweave's own JSON: free chips, a node that takes few pods.
const std::string kOwn =
    R"(echo '{"levels":["block","rack"],"nodes":[{"name":"x1","path":["b1","r1"],"free":8},)"
    R"({"name":"x2","path":["b1","r1"],"free":8,"max_pods":1},)"
    R"({"name":"x3","path":["b1","r2"],"free":4}]}' | %B/chipweave plan --network - )";
TEST(PlanCommand, PrintsHowMuchFitsAndWhere) {
  const Outcome out = run(kFourNodes + "--free 8 --pods 20 --chips 2 --required spine 2>&1");
  EXPECT_EQ(out.code, 0);
  EXPECT_EQ(out.text,
            "fits: 20 pods on 5 nodes\n"
            "domains: core 1, spine 1, leaf 2 (proven the best)\n"
            "\n"
            "NODE  PATH     PODS  RANKS\n"
            "n1    c/s1/l1     4  0-3\n"
            "n2    c/s1/l1     4  4-7\n"
            "n3    c/s1/l1     4  8-11\n"
            "n4    c/s1/l1     4  12-15\n"
            "n5    c/s1/l2     4  16-19\n");
}

TEST(PlanCommand, JsonIsTheAnswerOfTheBatchForm) {
  const Outcome json = run(kOwn + "--pods 2 --chips 8 --required rack -o json 2>&1");
  EXPECT_EQ(json.code, 0);
  EXPECT_EQ(json.text, R"({"id":null,"fits":true,"assignment":{"b1/r1":2},"pods":[)"
                       R"({"pod":0,"node":"x1","path":["b1","r1"],"rank":0},)"
                       R"({"pod":1,"node":"x2","path":["b1","r1"],"rank":1}],)"
                       R"("domains":{"block":1,"rack":1},"placed":2,"optimal":true,"reason":""})"
                       "\n");
}

// Nodes gpu01 to gpu04 of 8 GPUs, one cordoned, one not ready; a pod holds 6 chips of gpu01.
std::string node(const std::string& name, const std::string& spec, const std::string& ready,
                 const std::string& gpus = "8") {
  return R"({"kind":"Node","metadata":{"name":")" + name +
         R"(","labels":{"topology.kubernetes.io/zone":"z","kubernetes.io/hostname":")" + name +
         R"("}},"spec":{)" + spec + R"(},"status":{"allocatable":{"cpu":"64","nvidia.com/gpu":")" +
         gpus + R"("},"conditions":[{"type":"Ready","status":")" + ready + R"("}]}})";
}
const std::string kClusterNodes = node("gpu01", "", "True") + "," + node("gpu02", "", "True", "4") +
                                  "," + node("gpu03", R"("unschedulable":true)", "True") + "," +
                                  node("gpu04", "", "False");
const std::string kClusterPods =
    R"({"kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"gpu01","containers":[{"resources":)"
    R"({"limits":{"nvidia.com/gpu":"6"}}}]},"status":{"phase":"Running"}})";
Outcome plan_objects(const std::string& items, const std::string& flags) {
  const io::TempFolder folder;
  return run(
      "%B/chipweave plan --levels topology.kubernetes.io/zone,kubernetes.io/hostname "
      "--network " +
      folder.put("objects.json", R"({"apiVersion":"v1","kind":"List","items":[)" + items + "]}") +
      " " + flags + " 2>&1");
}

TEST(PlanCommand, ANodeListSaysWhatNodesOfferAndWhichTakeNoPods) {
  const Outcome out = plan_objects(kClusterNodes, "--pods 3 --chips 4");
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr("nodes that take no pods are left out: gpu03 (cordoned), gpu04 "
                                  "(not ready)\n"));
  EXPECT_THAT(out.text, HasSubstr("fits: 3 pods on 2 nodes"));
  EXPECT_EQ(plan_objects(kClusterNodes, "--pods 4 --chips 4").code, kDoesNotFit);
  EXPECT_THAT(plan_objects(kClusterNodes, "--pods 3 --chips 4 --free 16").text,
              HasSubstr("--free has no effect"));
  // Labels alone: --free is needed, and no node is left out.
  const std::string labels =
      R"({"kind":"Node","metadata":{"name":"a","labels":)"
      R"({"topology.kubernetes.io/zone":"z","kubernetes.io/hostname":"a"}}})";
  EXPECT_THAT(plan_objects(labels, "--pods 1 --chips 4").text, HasSubstr("--free is required"));
  EXPECT_THAT(plan_objects(labels, "--pods 1 --chips 4 --free 8").text, StartsWith("fits: 1 pod"));
}

TEST(PlanCommand, PodsOfAListHoldTheirChips) {
  const std::string both = kClusterPods + "," + kClusterNodes;
  EXPECT_THAT(plan_objects(both, "--pods 1 --chips 4").text, HasSubstr("gpu02"));
  EXPECT_EQ(plan_objects(both, "--pods 2 --chips 4").code, kDoesNotFit);
  EXPECT_THAT(plan_objects(both, "--pods 3 --chips 2").text, HasSubstr("fits: 3 pods on 2 nodes"));
}

TEST(PlanCommand, RunningPodsHoldChipsOfFree) {
  const std::string by_node =
      R"(echo '{"levels":["rack","hostname"],"nodes":[{"name":"gpu01","path":["r1","gpu01"]},)"
      R"({"name":"gpu02","path":["r1","gpu02"]}]}' | %B/chipweave plan --network - --free 8 )";
  const Outcome full = run(by_node + "--pods 2 --chips 4 --existing gpu01=2 2>&1");
  EXPECT_EQ(full.code, 0) << full.text;
  EXPECT_THAT(full.text, HasSubstr("fits: 2 pods on 1 node"));
  EXPECT_THAT(full.text, HasSubstr("gpu02"));
  EXPECT_EQ(run(by_node + "--pods 3 --chips 4 --existing gpu01=2 2>&1").code, kDoesNotFit);
  EXPECT_EQ(run(by_node + "--pods 3 --chips 4 --existing r1/gpu01=1 2>&1").code, 0);
  EXPECT_THAT(run(by_node + "--pods 1 --chips 4 --existing gpu01=3 2>&1").text,
              HasSubstr("running pods at r1/gpu01 hold 4 chips more than --free says"));
}

TEST(PlanCommand, NodesAreNamedByPathOrName) {
  const std::string plan =
      R"(echo '{"levels":["rack","hostname"],"nodes":[{"name":"gpu01","path":["r1","gpu01"]},)"
      R"({"name":"gpu02","path":["r1","gpu02"]}]}' | %B/chipweave plan --network - --free 8 )"
      "--pods 1 --chips 8 ";
  const Outcome moved = run(plan + "--existing gpu01=1 --failed gpu01 -o json 2>&1");
  EXPECT_EQ(moved.code, 0) << moved.text;
  EXPECT_THAT(moved.text, HasSubstr(R"("assignment":{"r1/gpu02":1})"));
  const Outcome shared = run(kOwn + "--pods 1 --chips 4 --existing x2=1 2>&1");
  EXPECT_EQ(shared.code, 0);
  EXPECT_THAT(shared.text, HasSubstr("domains: block 1, rack 1, node 1 (proven the best)"))
      << "two nodes have the path b1/r1: a level tells them apart";
  const Outcome failed =
      run(kOwn + "--pods 2 --chips 4 --existing x1=1 --existing x2=1 --failed x1 -o json 2>&1");
  EXPECT_EQ(failed.code, 0) << failed.text;
  EXPECT_THAT(failed.text, Not(HasSubstr("b1/r1/x1\":")));
  EXPECT_THAT(failed.text, HasSubstr("b1/r1/x2\":"));
}

// As `place` does: a pod of a gang gets no chip that is unhealthy, and where it is one of several
// none whose network port is.
TEST(PlanCommand, HandsOutNoUnhealthyChips) {
  const io::TempFolder folder;
  const std::string machine = folder.put(
      "machine.json",
      R"({"vendor":"nvidia","chips":[{"index":0},{"index":1,"health":"unhealthy"},{"index":2},)"
      R"({"index":3,"health":"network_unhealthy"}]})");
  const auto plan = [&](int pods, int chips, const std::string& free) {
    return run(R"(echo '{"id":"r","network":{"levels":["rack"],"nodes":[{"name":"x1","path":["r1"],)"
               R"("machine":")" +
               machine + "\"" + free + R"(}]},"gang":{"pods":)" + std::to_string(pods) +
               R"(,"chips_per_pod":)" + std::to_string(chips) + "}}' | %B/chipweave plan --batch -")
        .text;
  };
  EXPECT_THAT(plan(2, 1, ""), HasSubstr(R"("fits":true)"));
  EXPECT_THAT(plan(2, 1, ""), testing::Not(HasSubstr(R"("chips":[1])")));
  EXPECT_THAT(plan(2, 1, ""), testing::Not(HasSubstr(R"("chips":[3])")));
  EXPECT_THAT(plan(3, 1, ""), HasSubstr(R"("fits":false)"));
  EXPECT_THAT(plan(1, 3, ""), HasSubstr(R"("chips":[0,2,3])"));
  EXPECT_THAT(plan(1, 3, R"(,"free_chips":[0,1,2])"), HasSubstr(R"("fits":false)"));
}

// Two boxes of which one has lost four adapters: the chips beside those that both have.
TEST(PlanCommand, LooksAtAdaptersThatAreDownOrInUse) {
  const auto plan = [](const std::string& keys) {
    return run(R"(echo '{"id":"r","network":{"levels":["rack"],"nodes":[)"
               R"({"name":"x","path":["r"],"machine":"hgx-h100-8","max_pods":1},)"
               R"({"name":"y","path":["r"],"machine":"hgx-h100-8","max_pods":1)" +
               keys + R"(}]},"gang":{"pods":2,"chips_per_pod":4}}' | %B/chipweave plan --batch -)")
        .text;
  };
  EXPECT_THAT(plan(""), HasSubstr(R"("chips":[0,1,2,3])"));
  const std::string down = plan(R"(,"down_nics":["mlx5_0","mlx5_1","mlx5_2","mlx5_3"])");
  EXPECT_THAT(down, HasSubstr(R"("limit":"4 rails","chips":370.8)"));
  EXPECT_THAT(down, testing::Not(HasSubstr(R"("chips":[0,1,2,3])")));
  EXPECT_THAT(plan(R"(,"down_nics":["eth0"])"), HasSubstr(R"(has no adapter \"eth0\")"));
  EXPECT_THAT(plan(R"(,"loaded_chips":[9])"), HasSubstr("has no chip 9"));
}

// A request of so many nodes, answered within so many KiB of address space.
std::string plan_within(int kib, int nodes, bool healthy, const std::string& gang) {
  const io::TempFolder folder;
  std::string line = R"({"id":"m","network":{"levels":["block","rack"],"nodes":[)";
  for (int i = 0; i < nodes; ++i) {
    line += (i > 0 ? "," : "");
    line += R"({"name":"n)" + std::to_string(i) + R"(","path":["b)" + std::to_string(i / 2000) +
            R"(","r)" + std::to_string(i / 20) + R"("],"free":8,"healthy":)" +
            (healthy ? "true" : "false") + "}";
  }
  const std::string file = folder.put("request.jsonl", line + R"(]},"gang":)" + gang + "}\n");
  return run("(ulimit -v " + std::to_string(kib) + "; %B/chipweave plan --batch " + file + ")")
      .text;
}

std::string roles(int count, int pods) {
  std::string out;
  for (int k = 0; k < count; ++k) {
    out += (k > 0 ? "," : "");
    out += R"({"name":"s)" + std::to_string(k) + R"(","pods":)" + std::to_string(pods) +
           R"(,"chips_per_pod":)" + std::to_string(1 + k % 4) + "}";
  }
  return R"({"roles":[)" + out + "]}";
}

// The states of roles on each node were once kept for nodes that take no pods, too: 3 GB.
TEST(PlanMemory, NodesThatTakeNoPodsCostNothing) {
  EXPECT_THAT(plan_within(400'000, 20'000, false, roles(4, 9)), HasSubstr(R"("fits":false)"));
  EXPECT_THAT(plan_within(400'000, 20'000, true, roles(4, 9)), HasSubstr(R"("placed":36)"));
}

// As many nodes and pods as a line may have.
TEST(PlanMemory, TheLargestRequestFitsIntoTwoGigabytes) {
  EXPECT_THAT(plan_within(2'000'000, 400'000, true, R"({"pods":100000,"chips_per_pod":8})"),
              HasSubstr(R"("placed":100000)"));
}

TEST(PlanMemory, SetsTimesNodesAreLimited) {
  EXPECT_THAT(plan_within(400'000, 20'001, true, roles(1000, 1)),
              HasSubstr("1000 on 20001 nodes, at most 20000000 pairs"));
}

TEST(PlanCommand, WhatDoesNotFitIsSaidInWordsAndExitsOne) {
  const std::string tight = kOwn + "--pods 4 --chips 8 ";
  const Outcome outcome = run(tight + "2>&1 >/dev/null");
  EXPECT_EQ(outcome.code, kDoesNotFit);
  EXPECT_THAT(outcome.text, StartsWith("chipweave: does not fit: "));
  EXPECT_EQ(run(tight + "2>/dev/null").text, "");
  const Outcome json = run(tight + "-o json 2>&1");
  EXPECT_EQ(json.code, kDoesNotFit);
  EXPECT_THAT(json.text, StartsWith(R"({"id":null,"fits":false,)"));
}

TEST(PlanCommand, EveryFlagIsAKeyOfTheGang) {
  const auto head = [](const Outcome& out) { return out.text.substr(0, out.text.find('\n')); };
  // x2 takes one pod.
  EXPECT_EQ(head(run(kOwn + "--pods 6 --chips 2 --min 5 --required block --slice rack=1 2>&1")),
            "fits: 6 pods on 2 nodes");
  EXPECT_EQ(head(run(kOwn + "--pods 9 --chips 2 --min 5 2>&1")),
            "fits: 7 of 9 pods on 3 nodes; at least 5 must run");
  const std::string four = kFourNodes + "--free 8 --pods 4 --chips 2 ";
  EXPECT_THAT(run(four).text, HasSubstr("leaf 1 "));
  EXPECT_THAT(run(four + "--policy even --preferred spine").text, HasSubstr("leaf 2 "));
  EXPECT_EQ(head(run(kOwn + "--pods 1 --chips 2 --keep-spare rack=1 --existing b1/r2=1 2>&1")),
            "fits: 1 pod on 1 node, beside 1 that run");
  EXPECT_EQ(head(run(kOwn + "--pods 2 --chips 2 --existing b1/r2=2 --failed b1/r2 2>&1")),
            "fits: 2 lost pods on 1 node");
  EXPECT_THAT(
      run(kOwn + "--pods 2 --chips 2 --existing b1/r2=2 --failed b1/r9 2>&1").text,
      StartsWith("chipweave: note: no node has the path b1/r9: taken as one that has left"));
}

TEST(PlanCommand, AFileGivesTheGangThatFlagsCannotSay) {
  const io::TempFolder folder;
  const auto with_gang = [&](const std::string& gang, const std::string& flags) {
    return run(kOwn + "--gang " + folder.put("gang.json", gang) + " " + flags);
  };
  const std::string roles = R"({"roles":[{"name":"leader","pods":1,"chips_per_pod":1},)"
                            R"({"name":"worker","pods":2,"chips_per_pod":2}]})";
  const Outcome table = with_gang(roles, "--required rack 2>&1");
  EXPECT_EQ(table.code, 0);
  EXPECT_THAT(table.text, HasSubstr("NODE  PATH   ROLE    PODS  RANKS\n"));
  const std::string pods = R"({"pods":1,"chips_per_pod":1})";
  EXPECT_EQ(with_gang(pods, "--required rack --pods 2 2>&1 >/dev/null").text,
            "chipweave: --pods cannot be combined with --gang: its file already has pods\n");
  EXPECT_EQ(with_gang(pods, "--pods 2 2>/dev/null").code, kWrongUsage);
  const Outcome typo = with_gang(R"({"pods":1,"chips_per_od":1})", "2>&1 >/dev/null");
  EXPECT_EQ(typo.code, kUnreadable);
  EXPECT_THAT(typo.text, HasSubstr("/gang.json: unknown key \"chips_per_od\" (gang)"));
  EXPECT_EQ(with_gang("{}", "--pods 2 --chips 1 2>/dev/null").code, 0);
}

// The error, on one line of standard error, with nothing on standard output.
void expect_refused(const std::string& line, int code, const std::string& says) {
  const Outcome outcome = run(line + " 2>&1 >/dev/null");
  EXPECT_EQ(outcome.code, code) << line;
  EXPECT_THAT(outcome.text, StartsWith("chipweave: " + says)) << line;
  EXPECT_EQ(outcome.text.find('\n'), outcome.text.size() - 1) << outcome.text;
  EXPECT_EQ(run(line + " 2>/dev/null").text, "") << line;
}

TEST(PlanCommand, RefusesWhatMakesNoSense) {
  const std::string good = kOwn + "--pods 2 --chips 2 ";
  expect_refused("%B/chipweave plan", kWrongUsage, "one of --batch FILE, or a network");
  expect_refused("%B/chipweave plan --pods 1 --batch -", kWrongUsage,
                 "--batch cannot be combined with --pods");
  expect_refused(kOwn + "--pods 2", kWrongUsage, "one of --batch FILE, or a network");
  expect_refused(kOwn + "--gang -", kWrongUsage, "--network - cannot be combined with --gang -");
  expect_refused(kOwn + "--pods -1 --chips 1", kWrongUsage, "--pods: gang.pods: must be 0 to");
  expect_refused(kOwn + "--pods x --chips 1", kWrongUsage,
                 "--pods: expected a whole number, got \"x\"");
  expect_refused(good + "--required rak", kWrongUsage,
                 "--required: gang.required_level: unknown level \"rak\"; did you mean");
  expect_refused(good + "--slice rack", kWrongUsage, "--slice: expected LEVEL=PODS, got \"rack\"");
  expect_refused(good + "--slice rack=0", kWrongUsage, "--slice: gang.slices[0].size: must be 1");
  expect_refused(good + "--keep-spare =2", kWrongUsage,
                 "--keep-spare: expected LEVEL=NODES, got \"=2\"");
  expect_refused(good + "--policy tight", kWrongUsage, "--policy: gang.policy: must be compact");
  expect_refused(good + "--existing b1/r1=1 --existing b1/r1=2", kWrongUsage,
                 "--existing: expected each PATH once, got \"b1/r1\" twice");
  expect_refused(good + "--existing b9=1", kWrongUsage, "--existing: gang.existing");
  expect_refused(good + "--free -1", kWrongUsage, "--free: ");
  expect_refused(good + "--format csw", kWrongUsage, "--format: unknown format \"csw\"");
  expect_refused(kFourNodes + "--pods 1 --chips 1", kWrongUsage,
                 "--free is required: the file does");
}

TEST(PlanCommand, FilesThatCannotBeReadExitThree) {
  expect_refused("%B/chipweave plan --pods 1 --chips 1 --network /no/such/file", kUnreadable,
                 "file /no/such/file: ");
  expect_refused("%B/chipweave plan --pods 1 --chips 1 --network /dev/null", kUnreadable,
                 "file /dev/null: the file is empty");
  expect_refused(kOwn + "--gang /no/such/file", kUnreadable, "file /no/such/file: ");
  expect_refused(kOwn + "--gang /dev/null", kUnreadable, "file /dev/null: not valid JSON");
  expect_refused(R"(echo '{"levels":["r"],"nodes":[{"name":"a","fre":1,"free":2}]}' | )"
                 "%B/chipweave plan --network - --pods 1 --chips 1",
                 kUnreadable, "standard input: unknown key \"fre\" (network.nodes[0])");
  expect_refused("echo 'name' | %B/chipweave plan --network - --format csv --pods 1 --chips 1",
                 kUnreadable, "standard input: ");
  EXPECT_EQ(run("{ " + kOwn + "--pods 1 --chips 1; } 2>/dev/null >/dev/full").code, kUnreadable);
}

// Two H100 machines under each of two racks.
class PlanOnMachines : public ::testing::Test {
 protected:
  Outcome plan(const std::string& flags) const {
    return run("%B/chipweave plan --network " + network_ + " " + flags + " 2>&1");
  }
  std::string put(const std::string& name, const std::string& text) {
    return folder_.put(name, text);
  }

 private:
  io::TempFolder folder_;
  const std::string network_ = folder_.put("net.json", R"({"levels":["rack"],"nodes":[
      {"name":"x1","path":["r1"],"machine":"hgx-h100-8"},{"name":"x2","path":["r1"],"machine":"hgx-h100-8","down_nics":["mlx5_3"]},
      {"name":"x3","path":["r2"],"machine":"hgx-h100-8"},{"name":"x4","path":["r2"],"machine":"hgx-v100-8"}]})");
};

TEST_F(PlanOnMachines, RanksFollowTheCommunicators) {
  const Outcome out = plan("--pods 4 --chips 4 --tensor 4 --pipeline 2 -o json");
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr(R"("rank_order":{"ranks_per_pod":4,"weighted":)"));
  EXPECT_THAT(out.text, HasSubstr(R"("rank_chips":[0,1,2,3])"));
  const Outcome wrong = plan("--pods 4 --chips 4 --tensor 3");
  EXPECT_EQ(wrong.code, kWrongUsage);
  EXPECT_THAT(wrong.text, HasSubstr("tensor: must divide 16"));
  const Outcome mixed =
      plan("--tensor 2 --gang " + put("mixed.json", R"({"pods":2,"pod_chips":[2,4]})"));
  EXPECT_EQ(mixed.code, kWrongUsage);
  EXPECT_THAT(mixed.text, HasSubstr("needs ranks_per_pod"));
  EXPECT_EQ(plan("--tensor 2 --ranks-per-pod 2 --gang " +
                 put("mixed.json", R"({"pods":2,"pod_chips":[2,4]})"))
                .code,
            0);
}

TEST_F(PlanOnMachines, ALauncherGetsHostsRanksAndChips) {
  EXPECT_EQ(plan("--pods 2 --chips 8 --to hostfile").text, "x1 slots=8\nx2 slots=8\n");
  EXPECT_THAT(plan("--pods 2 --chips 2 --to rankfile --cpu-packages 2").text,
              StartsWith("rank 0=x1 slot=0:*;1:*\nrank 1=x1 slot=0:*;1:*\n"));
  EXPECT_THAT(plan("--pods 2 --chips 2 --to rankfile").text, HasSubstr("rank 3=x1 slot=0:*\n"));
  EXPECT_EQ(plan("--pods 2 --chips 8 --to torchrun").text,
            "x1 CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 torchrun --nnodes=2 --node_rank=0 "
            "--nproc_per_node=8 --master_addr=x1\n"
            "x2 CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 NCCL_IB_HCA=^=mlx5_3 torchrun --nnodes=2 "
            "--node_rank=1 --nproc_per_node=8 --master_addr=x1\n");
  EXPECT_EQ(plan("--pods 1 --chips 2 --to mpi").text,
            "#!/bin/sh\n# sh FILE PROGRAM [ARGUMENTS]\nexec mpirun \\\n"
            "  -np 2 -host x1:2 -x CUDA_VISIBLE_DEVICES=0,1 \"$@\"\n");
  const Outcome running = plan("--pods 2 --chips 8 --existing r1=1 --to torchrun");
  EXPECT_EQ(running.code, kWrongUsage);
  EXPECT_THAT(running.text, HasSubstr("pods of the gang run already"));
  EXPECT_EQ(plan("--pods 9 --chips 8 --to torchrun").code, kDoesNotFit);
  EXPECT_EQ(plan("--pods 2 --chips 8 --to slurm").code, kWrongUsage);
  EXPECT_EQ(plan("--pods 2 --chips 8 --to mpi -o json").code, kWrongUsage);
}

TEST_F(PlanOnMachines, SeveralGangsAreServedByPriority) {
  const std::string gangs = put("gangs.json", R"([{"name":"low","pods":2,"chips_per_pod":8},
      {"name":"high","priority":2,"pods":2,"chips_per_pod":8,"required_level":"rack"},
      {"name":"late","pods":1,"chips_per_pod":8}])");
  const Outcome out = plan("--gangs " + gangs);
  EXPECT_EQ(out.code, kDoesNotFit);
  EXPECT_THAT(out.text, StartsWith("== high (priority 2)\nfits: 2 pods on 2 nodes\n"));
  EXPECT_THAT(out.text, HasSubstr("== low (priority 0)\nfits: 2 pods on 2 nodes\n"));
  EXPECT_THAT(out.text, HasSubstr("== late (priority 0)\ndoes not fit: "));
  const Outcome json = plan("--gangs " + gangs + " -o json");
  EXPECT_THAT(json.text,
              StartsWith(R"({"id":null,"gangs":[{"name":"high","priority":2,"plan":{"id":"high",)"
                         R"("fits":true)"));
  EXPECT_EQ(plan("--gangs " + gangs + " --pods 2 --chips 2").code, kWrongUsage);
  EXPECT_EQ(plan("--gangs " + gangs + " --to mpi").code, kWrongUsage);
  const Outcome wrong = plan("--gangs " + put("wrong.json", R"([{"name":"a","pods":-1}])"));
  EXPECT_EQ(wrong.code, kUnreadable);
  EXPECT_THAT(wrong.text, HasSubstr("wrong.json: gangs[0]: pods: "));
  EXPECT_EQ(plan("--gangs " + put("wrong.json", "7")).code, kUnreadable);
}

TEST_F(PlanOnMachines, ExplainsItself) {
  const Outcome out = plan("--pods 2 --chips 8 --explain");
  EXPECT_EQ(out.code, 0);
  EXPECT_THAT(out.text, HasSubstr("\nWhy:\n- runner-up: 2 pods without "));
  EXPECT_THAT(out.text, HasSubstr("- without down_nics of 1 node: 370.8 GB/s instead of 336\n"));
  const Outcome one = plan("--pods 2 --chips 8 --if-fails x1 -o json");
  EXPECT_THAT(one.text, HasSubstr(R"("if_fails":[{"node":"x1","fits":true)"));
  const Outcome other = plan("--pods 2 --chips 8 --if-fails x9");
  EXPECT_EQ(other.code, kWrongUsage);
  EXPECT_THAT(other.text, HasSubstr("--if-fails: "));
  EXPECT_EQ(plan("--pods 9 --chips 8 --explain").code, kDoesNotFit);
  EXPECT_EQ(plan("--pods 9 --chips 8 --if-fails x1").code, kDoesNotFit);
}

// Agents and a scheduler that run; a pod has three chips of n1.
TEST(PlanOnACluster, TakesFreeChipsAndRunningPodsFromTheScheduler) {
  const io::TempFolder folder;
  folder.put("pod.json",
             R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"d",)"
             R"("labels":{"scheduling.x-k8s.io/pod-group":"g"}},"spec":{"containers":[)"
             R"({"name":"c","image":"i","resources":{"limits":{"nvidia.com/gpu":"3"}}}]}})");
  folder.put("net.json", R"({"levels":["rack"],"nodes":[{"name":"n1","path":["r1"]},)"
                         R"({"name":"n2","path":["r1"]},{"name":"n9","path":["r1"]}]})");
  const Outcome out = run("cd " + folder.path() + R"( && {
%B/chipweave-scheduler --standalone --port-file ports --http 127.0.0.1:0 --grpc 127.0.0.1:0 2>log & S=$!
while kill -0 $S 2>/dev/null && [ ! -s ports ]; do sleep 0.02; done
H=http://$(sed 's/.*"http":\([0-9]*\).*/127.0.0.1:\1/' ports)
G=$(sed 's/.*"grpc":\([0-9]*\).*/127.0.0.1:\1/' ports)
%B/chipweave-agent --node n1 --probe profile:hgx-h100-8 --scheduler $G 2>log1 & A=$!
%B/chipweave-agent --node n2 --probe profile:hgx-h100-8 --scheduler $G 2>log2 & B=$!
while [ $(%B/chipweave nodes --scheduler $H -o json | grep -o '"name"' | wc -l) -lt 2 ]; do sleep 0.05; done
%B/chipweave submit pod.json --node n1 --scheduler $H >submitted
echo == flat; %B/chipweave plan --scheduler $H --pods 2 --chips 4
echo == net; %B/chipweave plan --scheduler $H --network net.json --pods 3 --chips 4
echo == job; %B/chipweave plan --scheduler $H --network net.json --pods 1 --chips 3 --required rack --job d/g
echo == none; %B/chipweave plan --scheduler $H --pods 1 --chips 3 --job d/x; echo $?
kill $A $B $S; wait; } 2>&1)");
  EXPECT_THAT(out.text, HasSubstr("== flat\nfits: 2 pods on 1 node\n"));
  EXPECT_THAT(out.text, HasSubstr("n2    n2       2  0,1    0-7\n"));
  EXPECT_THAT(out.text, HasSubstr("== net\nchipweave: warning: nodes of the network that the "
                                  "scheduler does not know, and that have no free chips for that "
                                  "reason: 1\nfits: 3 pods on 2 nodes\n"));
  EXPECT_THAT(out.text, HasSubstr("n1    r1       1  0      4-7\n"));
  EXPECT_THAT(out.text, HasSubstr("fits: 1 pod on 1 node, beside 1 that run\n"));
  EXPECT_THAT(out.text, HasSubstr("n1    r1       1  1      3-5\n"));
  EXPECT_THAT(out.text, HasSubstr("--job: no pod of d/x has a node\n4\n"));
}

TEST(PlanOnACluster, RefusesWhatMakesNoSense) {
  for (const char* flags : {"--pods 1 --chips 1 --kube-context c --network /dev/null",
                            "--pods 1 --chips 1 --scheduler http://127.0.0.1:1 --job x",
                            "--pods 1 --chips 1 --network /dev/null --job d/x",
                            "--pods 1 --chips 1 --scheduler ftp://x"}) {
    const Outcome out = complaint(std::string("chipweave plan ") + flags);
    EXPECT_EQ(out.code, kWrongUsage) << flags << out.text;
  }
  const Outcome gone =
      complaint("chipweave plan --scheduler http://127.0.0.1:1 --pods 1 --chips 1");
  EXPECT_EQ(gone.code, kUnreadable);
  EXPECT_THAT(gone.text, HasSubstr("Connection refused"));
  const Outcome file = complaint("chipweave plan --kubeconfig /nowhere --pods 1 --chips 1");
  EXPECT_EQ(file.code, kUnreadable);
  EXPECT_THAT(file.text, HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace chipweave
