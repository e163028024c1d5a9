// Gangs of which some pods are made only once others are bound or run.
#include <gtest/gtest.h>

#include "tests/unit/codec_kube/gang_said.hpp"

namespace chipweave::codec {
namespace {

TEST(GangOrder, JobSetsMayKeepSomeJobsApart) {
  const char* const kJobs = R"({"replicatedJobs":[{"name":"driver"},{"name":"w","replicas":2,
      "template":{"metadata":{"annotations":{"alpha.jobset.sigs.k8s.io/exclusive-topology":"rack"}}}}]})";
  KubeGangObject object = object_of(kJobs);
  EXPECT_EQ(said(source_of("jobset", "JobSet"), object),
            "jobset/train: size 3 min ?; driver/0 ?..1; w/0 ?..1 (in rack each); w/1 ?..1 (in rack "
            "each); one after the other");
  object.annotations["alpha.jobset.sigs.k8s.io/exclusive-topology"] = "pool";
  EXPECT_EQ(said(source_of("jobset", "JobSet"), object),
            "jobset/train: size 3 min ?; driver/0 ?..1 (in pool each); w/0 ?..1 (in rack each); "
            "w/1 ?..1 (in rack each); one after the other");
  object.annotations["alpha.jobset.sigs.k8s.io/node-selector"] = "true";
  object.spec = R"({"replicatedJobs":[{"name":"w"}]})";
  EXPECT_EQ(said(source_of("jobset", "JobSet"), object),
            "jobset/train: size 1 min ?; w/0 ?..1 (in pool each)");
}

TEST(GangOrder, PodsThatComeAfterOthersAreNotWaitedFor) {
  EXPECT_EQ(said("jobset", "JobSet",
                 R"({"startupPolicy":{"startupPolicyOrder":"InOrder"},
                     "replicatedJobs":[{"name":"driver"},{"name":"w"}]})"),
            "jobset/train: size 2 min ?; driver/0 ?..1; w/0 ?..1; one after the other");
  EXPECT_EQ(said("jobset", "JobSet",
                 R"({"startupPolicy":{"startupPolicyOrder":"AnyOrder"},
                     "replicatedJobs":[{"name":"w"}]})"),
            "jobset/train: size 1 min ?; w/0 ?..1");
  // what has to end first is not there with the others
  EXPECT_EQ(said("jobset", "JobSet",
                 R"({"replicatedJobs":[{"name":"fetch"},{"name":"lead"},{"name":"w",
                     "dependsOn":[{"name":"fetch","status":"Complete"},
                                  {"name":"lead","status":"Ready"}]}]})"),
            "jobset/train: size 2 min ?; lead/0 ?..1; w/0 ?..1; one after the other");
  EXPECT_EQ(said("trainer", "MPIJob",
                 R"({"launcherCreationPolicy":"WaitForWorkersReady",
                     "mpiReplicaSpecs":{"Worker":{"replicas":2},"Launcher":{}}})"),
            "trainer/train: size 3 min ?; launcher ?..1; worker ?..2; one after the other");
  EXPECT_EQ(said("trainer", "MPIJob",
                 R"({"launcherCreationPolicy":"AtStartup","mpiReplicaSpecs":{"Worker":{}}})"),
            "trainer/train: size 1 min ?; worker ?..1");
  EXPECT_EQ(said("volcano", "Job",
                 R"({"tasks":[{"name":"ps"},{"name":"w","dependsOn":{"name":["ps"]}}]})"),
            "volcano/train: size 2 min ?; ps ?..1; w ?..1; one after the other");
}

}  // namespace
}  // namespace chipweave::codec
