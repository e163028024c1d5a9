#include <gmock/gmock.h>

#include "common/base/limits.hpp"
#include "tests/unit/manifest/pods.hpp"

namespace chipweave::codec {
namespace {

using test::annotations_of;
using test::expand;
using test::labels_of;
using test::names;
using test::object_of;
using test::refusal;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr const char* kTemplate =
    "{spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 2}}}]}}";

std::string workload(const std::string& version, const std::string& kind, const std::string& spec) {
  return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: w}\nspec: " + spec +
         "\n";
}

std::string pod(const std::string& name) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         "}\nspec: {containers: [{name: c, image: i}]}\n";
}

TEST(Controllers, IndexedJobNumbersItsPods) {
  const Manifest manifest = expand(
      workload("batch/v1", "Job",
               std::string("{parallelism: 2, completions: 3, completionMode: Indexed, template: ") +
                   kTemplate + "}"));
  ASSERT_THAT(names(manifest), ElementsAre("w-0", "w-1"));
  EXPECT_EQ(labels_of(manifest.pods[1])["batch.kubernetes.io/job-completion-index"], "1");
  EXPECT_EQ(annotations_of(manifest.pods[1])["batch.kubernetes.io/job-completion-index"], "1");
  EXPECT_EQ(labels_of(manifest.pods[1])["batch.kubernetes.io/job-name"], "w");
  EXPECT_THAT(manifest.notes,
              ElementsAre("Job w: the first 2 of 3 completions, as parallelism says"));
  const auto owner = object_of(manifest.pods[0])["metadata"]["ownerReferences"][0];
  EXPECT_EQ(owner["kind"], "Job");
  EXPECT_EQ(owner["apiVersion"], "batch/v1");
}

TEST(Controllers, PlainJobHasNoIndexAndSuspendedJobNoPods) {
  const Manifest plain =
      expand(workload("batch/v1", "Job", std::string("{template: ") + kTemplate + "}"));
  ASSERT_THAT(names(plain), ElementsAre("w-0"));
  EXPECT_FALSE(labels_of(plain.pods[0]).contains("batch.kubernetes.io/job-completion-index"));
  const Manifest suspended = expand(
      workload("batch/v1", "Job", std::string("{suspend: true, template: ") + kTemplate + "}"));
  EXPECT_TRUE(suspended.pods.empty());
  EXPECT_THAT(suspended.notes, ElementsAre(HasSubstr("suspended")));
}

TEST(Controllers, DeploymentAndStatefulSet) {
  const std::string spec = std::string("{replicas: 2, template: ") + kTemplate + "}";
  EXPECT_THAT(names(expand(workload("apps/v1", "Deployment", spec))), ElementsAre("w-0", "w-1"));
  const Manifest stateful = expand(workload("apps/v1", "StatefulSet", spec));
  ASSERT_THAT(names(stateful), ElementsAre("w-0", "w-1"));
  EXPECT_EQ(labels_of(stateful.pods[1])["apps.kubernetes.io/pod-index"], "1");
}

TEST(Controllers, VolcanoTasksWithoutNamesGetTheDefaultOnes) {
  const Manifest manifest =
      expand(workload("batch.volcano.sh/v1alpha1", "Job",
                      std::string("{queue: q, tasks: [{template: ") + kTemplate +
                          "}, {name: ps, replicas: 2, template: " + kTemplate + "}]}"));
  ASSERT_THAT(names(manifest), ElementsAre("w-default0-0", "w-ps-0", "w-ps-1"));
  EXPECT_EQ(labels_of(manifest.pods[2])["volcano.sh/task-index"], "1");
  EXPECT_EQ(labels_of(manifest.pods[2])["volcano.sh/queue-name"], "q");
}

TEST(Controllers, LeadingReplicaTypeComesFirst) {
  const Manifest manifest =
      expand(workload("mindxdl.gitee.com/v1", "AscendJob",
                      std::string("{replicaSpecs: {Worker: {replicas: 2, template: ") + kTemplate +
                          "}, Scheduler: {template: " + kTemplate + "}}}"));
  EXPECT_THAT(names(manifest), ElementsAre("w-scheduler-0", "w-worker-0", "w-worker-1"));
}

TEST(Controllers, KindNamesAreReadWithTheirGroup) {
  const Manifest manifest = expand(workload("example.com/v1", "Job", "{tasks: []}"));
  EXPECT_TRUE(manifest.pods.empty());
  EXPECT_THAT(manifest.notes, ElementsAre("Job w (example.com/v1) makes no pods here: skipped"));
}

TEST(Controllers, ListsAreOpenedOnce) {
  const std::string item =
      "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: n}, "
      "spec: {containers: [{name: c, image: i}]}}";
  const Manifest manifest = expand("apiVersion: v1\nkind: List\nitems: [" + item + "]\n");
  ASSERT_THAT(names(manifest), ElementsAre("a"));
  EXPECT_EQ(manifest.pods[0].ns, "n");
  EXPECT_THAT(
      refusal("apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: List, items: []}]\n"),
      HasSubstr("List inside a List"));
}

TEST(Controllers, PodRequestIsCountedAsKubernetesDoes) {
  const Manifest manifest = expand(
      "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec:\n"
      "  initContainers:\n"
      "  - {name: i, resources: {limits: {nvidia.com/gpu: \"3\", example.com/nic: 2}}}\n"
      "  containers:\n"
      "  - {name: a, resources: {limits: {nvidia.com/gpu: 2, cpu: 4, hugepages-2Mi: 1Gi}}}\n"
      "  - {name: b, resources: {requests: {nvidia.com/gpu: 2}}}\n");
  ASSERT_THAT(names(manifest), ElementsAre("p-0"));
  EXPECT_THAT(manifest.pods[0].resources,
              ElementsAre(Pair("example.com/nic", 2), Pair("nvidia.com/gpu", 4)));
}

TEST(Controllers, SidecarsAndRequestsAreCountedAsTheSchedulerCountsThem) {
  const Manifest manifest = expand(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n"
      "  initContainers:\n"
      "  - {name: s, restartPolicy: Always, resources: {limits: {nvidia.com/gpu: 1}}}\n"
      "  - {name: i, resources: {limits: {nvidia.com/gpu: 2}}}\n"
      "  containers:\n"
      "  - {name: a, resources: {requests: {nvidia.com/gpu: 3}, limits: {nvidia.com/gpu: 5}}}\n");
  ASSERT_EQ(manifest.pods.size(), 1U);
  EXPECT_THAT(manifest.pods[0].resources, ElementsAre(Pair("nvidia.com/gpu", 4)));  // 3 plus 1
}

TEST(Controllers, NamesAreThoseThatKubernetesTakes) {
  const auto refusal_of = [](const std::string& name, const std::string& ns) {
    return refusal("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: " + ns +
                   "}\nspec: {containers: [{name: c}]}\n");
  };
  EXPECT_EQ(refusal_of("a.b-c.1", "ns-1"), "accepted");
  for (const char* name : {"a..b", ".a", "a.", "a.-b", "a-.b", "A"}) {
    EXPECT_THAT(refusal_of(name, "ns"), HasSubstr("must be an object name")) << name;
  }
  for (const std::string& ns : {std::string("a.b"), std::string("-a"), std::string(64, 'a')}) {
    EXPECT_THAT(refusal_of("a", ns), HasSubstr("must be a namespace")) << ns;
  }
}

TEST(Controllers, HostnameIsTheOneSelectorThatIsUnderstood) {
  const auto with = [](const std::string& spec) {
    return expand(
               "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c}], " +
               spec + "}\n")
        .pods.at(0);
  };
  EXPECT_EQ(with("nodeSelector: {kubernetes.io/hostname: n1}").hostname, "n1");
  EXPECT_FALSE(with("nodeSelector: {kubernetes.io/hostname: n1}").selects_nodes);
  EXPECT_TRUE(with("nodeSelector: {kubernetes.io/hostname: n1, zone: z}").selects_nodes);
  EXPECT_TRUE(with("affinity: {}").selects_nodes);
  EXPECT_EQ(with("dnsPolicy: Default").hostname, "");
}

TEST(Controllers, AllMistakesOfADocumentAreNamed) {
  const std::string message = refusal(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, resources: "
      "{limits: {nvidia.com/gpu: half, amd.com/gpu: -1}}}]}\n");
  EXPECT_THAT(message, HasSubstr("document at line 1"));
  EXPECT_THAT(message,
              HasSubstr("Pod: container c: nvidia.com/gpu: quantity 'half' is not a number"));
  EXPECT_THAT(message, HasSubstr("Pod: container c: amd.com/gpu: quantity '-1' is negative"));
}

TEST(Controllers, WrongShapesAreRefused) {
  EXPECT_THAT(refusal("just text\n"), HasSubstr("not a Kubernetes object"));
  EXPECT_THAT(refusal("kind: Pod\n"), HasSubstr("apiVersion is missing"));
  EXPECT_THAT(refusal("apiVersion: v1\nkind: Pod\nspec: {}\n"),
              HasSubstr("metadata.name is missing"));
  EXPECT_THAT(refusal("apiVersion: v1\nkind: Pod\nmetadata: {name: Upper}\n"),
              HasSubstr("must be an object name"));
  EXPECT_THAT(refusal("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n"),
              HasSubstr("at least one container"));
  EXPECT_THAT(refusal("apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {x: 8}}\nspec: "
                      "{containers: [{}]}\n"),
              HasSubstr("Pod.metadata.labels.x expected a string, got"));
  EXPECT_THAT(refusal(workload("apps/v1", "Deployment", "{replicas: \"2\"}")),
              HasSubstr("spec.replicas must be a whole number"));
  EXPECT_THAT(refusal(workload("kubeflow.org/v1", "PyTorchJob", "{}")),
              HasSubstr("spec.pytorchReplicaSpecs"));
  EXPECT_THAT(refusal(workload("batch.volcano.sh/v1alpha1", "Job", "{tasks: [3]}")),
              HasSubstr("spec.tasks[0] expected a map, got"));
}

TEST(Controllers, OnePodNameTwiceIsRefused) {
  EXPECT_THAT(refusal(pod("a") + "---\n" + pod("a")), HasSubstr("default/a a second time"));
}

TEST(Controllers, PodLimitHoldsForTheWholeFile) {
  const std::string most = std::to_string(limits::kMaxManifestPods);
  const std::string job =
      workload("apps/v1", "Deployment", "{replicas: " + most + ", template: " + kTemplate + "}");
  EXPECT_EQ(expand(job).pods.size(), static_cast<std::size_t>(limits::kMaxManifestPods));
  EXPECT_THAT(refusal(job + "---\n" + pod("one-more")), HasSubstr("more than " + most + " pods"));
  EXPECT_THAT(refusal(workload("apps/v1", "Deployment", "{replicas: 2000000000}")),
              HasSubstr("spec.replicas"));
}

TEST(Controllers, LargePodsTimesManyReplicasAreRefused) {
  const std::string large(40000, 'x');
  const std::string job =
      workload("apps/v1", "Deployment",
               "{replicas: 10000, template: {metadata: {annotations: {a: " + large +
                   "}}, spec: {containers: [{name: c}]}}}");
  EXPECT_THAT(refusal(job), HasSubstr("MiB of pods"));
}

}  // namespace
}  // namespace chipweave::codec
