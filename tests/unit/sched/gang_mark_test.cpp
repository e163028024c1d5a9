// What pods say about their gangs, by the marks of each framework.
#include "scheduler-plugin/model/gangs/gang_mark.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched {
namespace {

using Marks = std::map<std::string, std::string>;

PodRequest pod_of(Marks labels, Marks annotations = {}) {
  PodRequest out;
  out.key = {"team", "train-worker-3"};
  out.labels = std::move(labels);
  out.annotations = std::move(annotations);
  return out;
}

// "framework name role index size minimum", "-" for what is not said.
std::string said(const PodRequest& pod) {
  const auto mark = gang_mark_of(pod);
  if (!mark) return "none";
  const auto number = [](const std::optional<int>& n) { return n ? std::to_string(*n) : "-"; };
  return mark->framework + " " + mark->name + " " + (mark->role.empty() ? "-" : mark->role) + " " +
         number(mark->index) + " " + number(mark->size) + " " + number(mark->minimum);
}

TEST(GangMarks, EachFrameworkIsKnownByItsOwn) {
  EXPECT_EQ(said(pod_of({})), "none");
  EXPECT_EQ(said(pod_of({{"app", "web"}}, {{"hccl/rankIndex", "3"}})), "none");
  EXPECT_EQ(said(pod_of({{"chipweave.dev/gang", "g"}, {"chipweave.dev/gang-index", "2"}},
                        {{"chipweave.dev/gang-size", "8"},
                         {"chipweave.dev/gang-minimum", "4"},
                         {"chipweave.dev/gang-role", "decode"}})),
            "chipweave g decode 2 8 4");
  EXPECT_EQ(said(pod_of({{"volcano.sh/job-name", "train"},
                         {"volcano.sh/task-spec", "worker"},
                         {"volcano.sh/task-index", "5"}},
                        {{"scheduling.k8s.io/group-name", "train-7c9"}})),
            "volcano train-7c9 worker 5 - -");
  EXPECT_EQ(said(pod_of({}, {{"scheduling.volcano.sh/group-name", "pg"}})), "volcano pg - - - -");
  EXPECT_EQ(said(pod_of({{"scheduling.x-k8s.io/pod-group", "pg"}})),
            "scheduler-plugins pg - - - -");
  EXPECT_EQ(said(pod_of({{"pod-group.scheduling.sigs.k8s.io", "pg"}})), "koordinator pg - - - -");
  EXPECT_EQ(said(pod_of({}, {{"gang.scheduling.koordinator.sh/name", "torch"},
                             {"gang.scheduling.koordinator.sh/min-available", "4"},
                             {"gang.scheduling.koordinator.sh/total-number", "6"},
                             {"gang.scheduling.koordinator.sh/network-topology-index", "1"}})),
            "koordinator torch - 1 6 4");
  EXPECT_EQ(said(pod_of({{"pod-group.scheduling.sigs.k8s.io/name", "old"},
                         {"pod-group.scheduling.sigs.k8s.io/min-available", "3"}})),
            "koordinator old - - - 3");
  EXPECT_EQ(
      said(pod_of({}, {{"pod-group-name", "pg"}, {"kai.scheduler/subgroup-name", "prefill"}})),
      "kai pg prefill - - -");
  // its pod grouper marks pods that their job was planned with
  EXPECT_EQ(said(pod_of({{"batch.kubernetes.io/job-name", "train"},
                         {"batch.kubernetes.io/job-completion-index", "1"}},
                        {{"pod-group-name", "pg"}})),
            "job train - 1 - -");
  EXPECT_EQ(said(pod_of({{"kueue.x-k8s.io/pod-group-name", "pg"}},
                        {{"kueue.x-k8s.io/pod-group-total-count", "12"}})),
            "kueue pg - - 12 -");
  EXPECT_EQ(said(pod_of({{"grove.io/podgang", "pg"}, {"grove.io/podclique", "pg-prefill"}})),
            "grove pg pg-prefill - - -");
  EXPECT_EQ(said(pod_of({{"grove.io/podgang", "pg"},
                         {"grove.io/podclique", "pg-prefill"},
                         {"grove.io/podclique-pod-index", "1"}})),
            "grove pg pg-prefill 1 - -");
  EXPECT_EQ(said(pod_of({{"gpu-topology", "nccl"}, {"gpu-topology-replica", "2"}})),
            "ack nccl - - 2 -");
  EXPECT_EQ(said(pod_of({{"gpu-topology", "nccl"}})), "none");
  EXPECT_EQ(said(pod_of({{"leaderworkerset.sigs.k8s.io/name", "llm"},
                         {"leaderworkerset.sigs.k8s.io/group-index", "4"},
                         {"leaderworkerset.sigs.k8s.io/worker-index", "0"}},
                        {{"leaderworkerset.sigs.k8s.io/size", "3"}})),
            "lws llm/4 - 0 3 -");
  EXPECT_EQ(said(pod_of({{"training.kubeflow.org/job-name", "bert"},
                         {"training.kubeflow.org/replica-type", "worker"},
                         {"training.kubeflow.org/replica-index", "0"}})),
            "trainer bert worker 0 - -");
  EXPECT_EQ(said(pod_of({{"elasticjob.dlrover/name", "el"},
                         {"elasticjob.dlrover/replica-type", "worker"},
                         {"elasticjob.dlrover/replica-index", "9"},
                         {"elasticjob.dlrover/rank-index", "1"}})),
            "dlrover el worker 1 - -");
  EXPECT_EQ(said(pod_of({{"ray.io/cluster", "ray"}, {"ray.io/node-type", "head"}})),
            "ray ray head - - -");
  EXPECT_EQ(said(pod_of({{"ray.io/cluster", "ray"}, {"ray.io/group", "gpus"}})),
            "ray ray gpus - - -");
  EXPECT_EQ(
      said(pod_of({{"job-name", "old"}}, {{"batch.kubernetes.io/job-completion-index", "6"}})),
      "job old - 6 - -");
}

TEST(GangMarks, KubernetesOwnGroupIsAField) {
  PodRequest pod = pod_of({});
  pod.gang = "team/group";
  EXPECT_EQ(said(pod), "kubernetes group - - - -");
}

// A JobSet's pods carry the marks of their Job; the completion index counts within it.
TEST(GangMarks, OfSeveralTheOuterOneNamesTheGang) {
  const Marks jobset{{"jobset.sigs.k8s.io/jobset-name", "js"},
                     {"jobset.sigs.k8s.io/replicatedjob-name", "workers"},
                     {"jobset.sigs.k8s.io/job-index", "1"},
                     {"batch.kubernetes.io/job-name", "js-workers-1"},
                     {"batch.kubernetes.io/job-completion-index", "3"}};
  EXPECT_EQ(said(pod_of(jobset)), "jobset js workers/1 3 - -");
  // What the scheduler goes by names the gang, the job numbers its pods.
  EXPECT_EQ(said(pod_of(jobset, {{"scheduling.k8s.io/group-name", "pg"}})),
            "volcano pg workers/1 3 - -");
  EXPECT_EQ(said(pod_of({{"training.kubeflow.org/job-name", "bert"},
                         {"training.kubeflow.org/replica-type", "worker"},
                         {"training.kubeflow.org/replica-index", "2"}},
                        {{"scheduling.k8s.io/group-name", "pg"}, {"hccl/rankIndex", "3"}})),
            "volcano pg worker 2 - -");
  EXPECT_EQ(said(pod_of({}, {{"scheduling.k8s.io/group-name", "pg"}, {"hccl/rankIndex", "3"}})),
            "volcano pg - 3 - -");
}

// A role without a number is of the gang, too; one framework's role never gets another's number.
TEST(GangMarks, RoleAndIndexAreOfOneFramework) {
  EXPECT_EQ(said(pod_of({{"volcano.sh/task-spec", "ps"},
                         {"training.kubeflow.org/job-name", "bert"},
                         {"training.kubeflow.org/replica-type", "worker"},
                         {"training.kubeflow.org/replica-index", "2"}},
                        {{"scheduling.k8s.io/group-name", "pg"}})),
            "volcano pg worker 2 - -");
  EXPECT_EQ(said(pod_of({{"volcano.sh/task-spec", "ps"}, {"ray.io/cluster", "r"}},
                        {{"scheduling.k8s.io/group-name", "pg"}})),
            "volcano pg ps - - -");
}

TEST(GangMarks, AnOlderVolcanoHasTheIndexInThePodsName) {
  const auto named = [](const std::string& name) {
    PodRequest pod = pod_of({{"volcano.sh/job-name", "train"}, {"volcano.sh/task-spec", "worker"}},
                            {{"scheduling.k8s.io/group-name", "pg"}});
    pod.key.name = name;
    return said(pod);
  };
  EXPECT_EQ(named("train-worker-3"), "volcano pg worker 3 - -");
  EXPECT_EQ(named("train-worker-"), "volcano pg worker - - -");
  EXPECT_EQ(named("train-worker-3x"), "volcano pg worker - - -");
  EXPECT_EQ(named("train-worker--3"), "volcano pg worker - - -");
  EXPECT_EQ(named("train-worker-99999999999"), "volcano pg worker - - -");
  EXPECT_EQ(named("other-worker-3"), "volcano pg worker - - -");
}

// mpi-operator: the role is in another label, and workers are counted from 1 where the launcher is
// one of them.
TEST(GangMarks, PodsOfMpiOperator) {
  const auto named = [](const std::string& name, const std::string& role,
                        const std::string& index) {
    PodRequest pod = pod_of({{"training.kubeflow.org/operator-name", "mpi-operator"},
                             {"training.kubeflow.org/job-name", "bert"},
                             {"training.kubeflow.org/job-role", role},
                             {"training.kubeflow.org/replica-index", index}});
    pod.key.name = name;
    return said(pod);
  };
  EXPECT_EQ(named("bert-worker-3", "worker", "3"), "trainer bert worker 3 - -");
  EXPECT_EQ(named("bert-worker-3", "worker", "4"), "trainer bert worker 3 - -");
  EXPECT_EQ(named("bert-launcher-x7k2p", "launcher", "0"), "trainer bert launcher 0 - -");
  EXPECT_EQ(named("bert-launcher-x7k2p", "launcher", ""), "trainer bert launcher - - -");
  // training-operator has both labels on masters
  EXPECT_EQ(said(pod_of({{"training.kubeflow.org/job-name", "bert"},
                         {"training.kubeflow.org/job-role", "master"},
                         {"training.kubeflow.org/replica-type", "launcher"}})),
            "trainer bert launcher - - -");
}

TEST(GangMarks, PodsOfKueueGroupsAreNumberedByALabel) {
  EXPECT_EQ(said(pod_of({{"kueue.x-k8s.io/pod-group-name", "g"},
                         {"kueue.x-k8s.io/pod-group-pod-index", "5"}})),
            "kueue g - 5 - -");
  EXPECT_EQ(
      said(pod_of({{"apps.kubernetes.io/pod-index", "2"}},
                  {{"kueue.x-k8s.io/pod-group-name", "g"},
                   {"kueue.x-k8s.io/pod-group-total-count", "4"},
                   {"kueue.x-k8s.io/pod-group-pod-index-label", "apps.kubernetes.io/pod-index"}})),
      "kueue g - 2 4 -");
}

TEST(GangMarks, HostsOfARayReplicaHaveNoNumberOfTheirOwn) {
  Marks labels{{"ray.io/cluster", "r"},
               {"ray.io/node-type", "worker"},
               {"ray.io/group", "gpu"},
               {"ray.io/worker-group-replica-index", "2"}};
  EXPECT_EQ(said(pod_of(labels)), "ray r gpu 2 - -");
  labels["ray.io/replica-host-index"] = "0";
  EXPECT_EQ(said(pod_of(labels)), "ray r gpu - - -");
}

TEST(GangMarks, WrongNumbersAreNamedAndNotUsed) {
  const auto problem = [](const char* key, const std::string& value) {
    const auto mark = gang_mark_of(pod_of({{"chipweave.dev/gang", "g"}}, {{key, value}}));
    EXPECT_FALSE(mark->size || mark->minimum || mark->index) << value;
    return mark->problem;
  };
  for (const std::string wrong : {"0", "-1", "many", "10001", "1.5", "99999999999", " 4"}) {
    EXPECT_THAT(problem("chipweave.dev/gang-size", wrong),
                testing::HasSubstr("expected a number from 1 to 10000"));
  }
  EXPECT_EQ(problem("chipweave.dev/gang-index", "-1"),
            "chipweave.dev/gang-index is \"-1\"; expected a number from 0 to 10000");
  EXPECT_THAT(problem("chipweave.dev/gang-minimum", std::string(5000, '\x01')),
              testing::SizeIs(testing::Lt(300U)));
  const auto more = gang_mark_of(pod_of({}, {{"chipweave.dev/gang", "g"},
                                             {"chipweave.dev/gang-size", "4"},
                                             {"chipweave.dev/gang-minimum", "5"}}));
  EXPECT_EQ(more->problem, "at least 5 pods must start, and there are 4");
  EXPECT_EQ(more->minimum, std::nullopt);
  EXPECT_EQ(more->size, 4);
}

TEST(GangMarks, SparesAndFaultsAreOfAnyFramework) {
  const auto mark = [](const std::string& spares, const std::string& fault) {
    return *gang_mark_of(
        pod_of({{"scheduling.x-k8s.io/pod-group", "pg"}, {"fault-scheduling", fault}},
               {{"chipweave.dev/spares", spares}}));
  };
  EXPECT_EQ(mark("2", "force").spares, 2);
  EXPECT_EQ(mark("2", "force").fault, FaultRule::force);
  EXPECT_EQ(mark("16", "grace").spares, 16);
  EXPECT_EQ(mark("0", "grace").fault, FaultRule::grace);
  for (const char* other : {"", "off", "external-force", "Force", "true"})
    EXPECT_EQ(mark("1", other).fault, FaultRule::off) << other;
  EXPECT_EQ(mark("17", "off").spares, 0);
  EXPECT_EQ(mark("17", "off").problem, "chipweave.dev/spares is 17; a gang can have at most 16");
  for (const char* wrong : {"-1", "many", "10001"}) {
    EXPECT_EQ(mark(wrong, "off").spares, 0);
    EXPECT_THAT(mark(wrong, "off").problem, testing::HasSubstr("chipweave.dev/spares is"));
  }
  // the label alone makes no gang
  EXPECT_EQ(said(pod_of({{"fault-scheduling", "force"}}, {{"chipweave.dev/spares", "1"}})), "none");
}

TEST(GangMarks, EachFrameworkHasANameOfItsOwn) {
  std::set<std::string> names;
  for (const gangs::Framework& each : gangs::kFrameworks) names.insert(each.name);
  EXPECT_EQ(names.size(), gangs::kFrameworks.size());
}

}  // namespace
}  // namespace chipweave::sched
