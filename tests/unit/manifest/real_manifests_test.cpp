// Every manifest of the vendors' documents expands to the pods that its controller would make.
#include <gmock/gmock.h>

#include "tests/support/paths.hpp"
#include "tests/unit/manifest/pods.hpp"

namespace chipweave::codec {
namespace {

using test::annotations_of;
using test::expand;
using test::labels_of;
using test::names;
using test::object_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string shared_file(const std::string& name) {
  return chipweave::test::file_content(chipweave::test::shared_data_path("manifests/" + name))
      .value_or("");
}

#define LOAD(text, name)                      \
  const std::string text = shared_file(name); \
  if ((text).empty()) GTEST_SKIP() << "no shared data: " << (name)

TEST(RealManifests, AckTopologyJobKeepsItsGroup) {
  LOAD(text, "ack-pytorchjob-topology.yaml");
  const Manifest manifest = expand(text);
  ASSERT_THAT(names(manifest),
              ElementsAre("pytorch-dist-nccl-master-0", "pytorch-dist-nccl-worker-0"));
  for (const ManifestPod& pod : manifest.pods) {
    EXPECT_EQ(pod.ns, "default");
    EXPECT_EQ(pod.group, "pytorch-dist-nccl");
    EXPECT_THAT(pod.resources, ElementsAre(Pair("aliyun.com/gpu", 1)));
    const auto labels = labels_of(pod);
    EXPECT_EQ(labels["gpu-topology-replica"], "2");
    EXPECT_EQ(labels["training.kubeflow.org/job-name"], "pytorch-dist-nccl");
    EXPECT_EQ(labels["training.kubeflow.org/operator-name"], "pytorchjob-controller");
    EXPECT_EQ(labels["training.kubeflow.org/replica-index"], "0");
    EXPECT_EQ(annotations_of(pod)["sidecar.istio.io/inject"], "false");
    const auto spec = object_of(pod)["spec"];
    EXPECT_EQ(spec["hostIPC"], true);
    EXPECT_EQ(spec["restartPolicy"], "OnFailure");
    EXPECT_EQ(spec["containers"][0]["resources"]["requests"]["aliyun.com/gpu"], 1);
  }
  EXPECT_EQ(labels_of(manifest.pods[0])["training.kubeflow.org/replica-type"], "master");
  EXPECT_EQ(labels_of(manifest.pods[0])["training.kubeflow.org/job-role"], "master");
  EXPECT_EQ(labels_of(manifest.pods[1])["training.kubeflow.org/replica-type"], "worker");
  EXPECT_FALSE(labels_of(manifest.pods[1]).contains("training.kubeflow.org/job-role"));
}

TEST(RealManifests, AnchoredReplicaSpecIsSharedByMasterAndWorker) {
  LOAD(text, "ack-pytorchjob-plain.yaml");
  const Manifest manifest = expand(text);
  ASSERT_THAT(names(manifest),
              ElementsAre("pytorch-dist-nccl-master-0", "pytorch-dist-nccl-worker-0"));
  EXPECT_EQ(object_of(manifest.pods[0])["spec"], object_of(manifest.pods[1])["spec"]);
  EXPECT_THAT(manifest.pods[1].resources, ElementsAre(Pair("nvidia.com/gpu", 1)));
  EXPECT_EQ(manifest.pods[0].group, "");
}

TEST(RealManifests, DlroverElasticJob) {
  LOAD(text, "dlrover-elasticjob.yaml");
  const Manifest manifest = expand(text);
  ASSERT_THAT(
      names(manifest),
      ElementsAre("fine-tuning-llama2-edljob-worker-0", "fine-tuning-llama2-edljob-worker-1",
                  "fine-tuning-llama2-edljob-worker-2", "fine-tuning-llama2-edljob-worker-3"));
  const ManifestPod& last = manifest.pods[3];
  EXPECT_EQ(last.ns, "dlrover");
  EXPECT_EQ(last.owner, "ElasticJob fine-tuning-llama2");
  EXPECT_THAT(last.resources, ElementsAre(Pair("metax-tech.com/gpu", 8)));
  EXPECT_EQ(labels_of(last)["elasticjob.dlrover/name"], "fine-tuning-llama2");
  EXPECT_EQ(labels_of(last)["elasticjob.dlrover/replica-type"], "worker");
  EXPECT_EQ(labels_of(last)["elasticjob.dlrover/rank-index"], "3");
  EXPECT_EQ(labels_of(last)["elasticjob.dlrover/replica-index"], "3");
}

TEST(RealManifests, ConfigMapMakesNoPods) {
  LOAD(text, "dlrover-node-topology-config.yaml");
  const Manifest manifest = expand(text);
  EXPECT_TRUE(manifest.pods.empty());
  EXPECT_THAT(manifest.notes,
              ElementsAre("ConfigMap node-topology-config (v1) makes no pods here: skipped"));
}

TEST(RealManifests, KoordinatorGangKeepsItsAnnotations) {
  LOAD(text, "koordinator-gang-elasticjob.yaml");
  const Manifest manifest = expand(text);
  ASSERT_THAT(names(manifest),
              ElementsAre("torch-mnist-gang-edljob-worker-0", "torch-mnist-gang-edljob-worker-1"));
  EXPECT_EQ(annotations_of(manifest.pods[1])["gang.scheduling.koordinator.sh/min-available"], "4");
  EXPECT_EQ(object_of(manifest.pods[1])["spec"]["schedulerName"], "koord-scheduler");
  EXPECT_THAT(manifest.notes, testing::Contains(HasSubstr("PodGroup torch-mnist-gang")));
}

TEST(RealManifests, MindieControllerAsksForNoChips) {
  LOAD(text, "mindie-controller.yaml");
  const Manifest manifest = expand(text);
  ASSERT_THAT(names(manifest), ElementsAre("mindie-ms-test-controller-master-0"));
  EXPECT_TRUE(manifest.pods[0].resources.empty());
  EXPECT_EQ(labels_of(manifest.pods[0])["app"], "mindie-ms-controller");
}

TEST(RealManifests, MindieServerSharesItsTemplate) {
  LOAD(text, "mindie-server-0.yaml");
  const Manifest manifest = expand(text);
  ASSERT_THAT(names(manifest), ElementsAre("mindie-server-0-master-0", "mindie-server-0-worker-0"));
  for (const ManifestPod& pod : manifest.pods) {
    EXPECT_EQ(pod.ns, "mindie");
    EXPECT_THAT(pod.resources, ElementsAre(Pair("huawei.com/Ascend910", 8)));
    EXPECT_TRUE(pod.selects_nodes);
    EXPECT_EQ(labels_of(pod)["jobID"], "mindie-ms-test");
    EXPECT_EQ(labels_of(pod)["training.kubeflow.org/operator-name"], "ascendjob-controller");
    const auto spec = object_of(pod)["spec"];
    EXPECT_EQ(spec["schedulerName"], "volcano");
    EXPECT_EQ(spec["volumes"][0]["configMap"]["defaultMode"], 0640);  // octal, as kubectl reads it
  }
  EXPECT_THAT(manifest.notes, ElementsAre(HasSubstr("ConfigMap rings-config-mindie-server-0")));
}

TEST(RealManifests, ModelArtsVolcanoJob) {
  LOAD(text, "modelarts-volcano-job.yaml");
  const Manifest manifest = expand(text);
  ASSERT_EQ(manifest.pods.size(), 6U);
  const ManifestPod& pod = manifest.pods[5];
  EXPECT_EQ(pod.name, "yourvcjobname-worker-5");
  EXPECT_EQ(pod.owner, "Job yourvcjobname");
  EXPECT_THAT(pod.resources, ElementsAre(Pair("huawei.com/ascend-1980", 8)));
  const auto labels = labels_of(pod);
  EXPECT_EQ(labels["volcano.sh/job-name"], "yourvcjobname");
  EXPECT_EQ(labels["volcano.sh/job-namespace"], "default");
  EXPECT_EQ(labels["volcano.sh/queue-name"], "default");
  EXPECT_EQ(labels["ring-controller.cce"], "ascend-1980");
  const auto annotations = annotations_of(pod);
  EXPECT_EQ(annotations["cabinet"], "cabinet");
  EXPECT_EQ(annotations["volcano.sh/job-name"], "yourvcjobname");
  EXPECT_EQ(annotations["volcano.sh/task-spec"], "worker");
  EXPECT_EQ(annotations["volcano.sh/task-index"], "5");
  EXPECT_EQ(annotations["scheduling.k8s.io/group-name"], "yourvcjobname");
  const auto spec = object_of(pod)["spec"];
  EXPECT_EQ(spec["schedulerName"], "volcano");
  EXPECT_EQ(spec["containers"][0]["env"][2]["value"], "8");  // quoted: stays text
  EXPECT_EQ(spec["containers"][0]["resources"]["limits"]["huawei.com/ascend-1980"], "8");
}

}  // namespace
}  // namespace chipweave::codec
