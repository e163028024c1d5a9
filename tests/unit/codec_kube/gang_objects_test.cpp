// What the owner objects of gangs say, framework by framework.
#include "common/codec/kube/gangs/gang_object.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/json/json_value.hpp"
#include "common/codec/kube/watch.hpp"
#include "common/codec/yaml/yaml_tree.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/codec_kube/gang_said.hpp"

namespace chipweave::codec {
namespace {

constexpr const char* kGpus =
    R"({"metadata":{},"spec":{"containers":[{"name":"m","resources":{"limits":{"nvidia.com/gpu":8,"cpu":"4"}}}]}})";

std::string with_gpus(const std::string& key_and_more) {
  return key_and_more + R"(,"template":)" + kGpus;
}

TEST(GangObjects, VolcanoJobsHaveTasksInTheOrderOfRanks) {
  EXPECT_EQ(said("volcano", "Job",
                 R"({"minAvailable":3,"networkTopology":{"mode":"hard","highestTierAllowed":2},
                     "tasks":[{"name":"master","replicas":1},{"replicas":4,"minAvailable":2,)" +
                     with_gpus(R"("policies":[])") + "}]}"),
            "volcano/train: size 5 min 3 (in tier:2); master ?..1; "
            "default1 2..4 8 nvidia.com/gpu");
  EXPECT_EQ(said("volcano", "Job",
                 R"({"minAvailable":0,"networkTopology":{"highestTierName":"spine"},
                     "tasks":[{"name":"w","replicas":8,"partitionPolicy":{"totalPartitions":4,
                     "partitionSize":2,"minPartitions":3,"networkTopology":{"highestTierAllowed":1}}}]})"),
            "volcano/train: size 8 min ? (in spine); w ?..8 parts 3..4 of 2 (in tier:1)");
  EXPECT_EQ(said("volcano", "Job", R"({"networkTopology":{"mode":"soft"},"tasks":[{"name":"w"}]})"),
            "volcano/train: size 1 min ?; w ?..1");
}

TEST(GangObjects, VolcanoJobsThatContradictThemselvesNameTheField) {
  EXPECT_THAT(
      said("volcano", "Job",
           R"({"minAvailable":9,"tasks":[{"name":"w","replicas":4,"minAvailable":5,
                       "partitionPolicy":{"totalPartitions":3,"partitionSize":2,"minPartitions":9}}],
                       "networkTopology":{"mode":"firm","highestTierAllowed":-1,"highestTierName":"x"}})"),
      testing::AllOf(testing::HasSubstr("spec.tasks[0].minAvailable: is more than the replicas, 4"),
                     testing::HasSubstr("spec.tasks[0].partitionPolicy.partitionSize: times"),
                     testing::HasSubstr("spec.minAvailable: is more than all replicas, 4"),
                     testing::HasSubstr("spec.networkTopology.mode: unknown mode"),
                     testing::HasSubstr("highestTierAllowed: must be 0 to"),
                     testing::HasSubstr("highestTierName: cannot be combined")));
}

TEST(GangObjects, VolcanoPodGroups) {
  EXPECT_EQ(said("volcano", "PodGroup", R"({"minMember":6,"minTaskMember":{"ps":2,"worker":4}})"),
            "volcano/train: size ? min 6; ps 2..?; worker 4..?");
  EXPECT_EQ(said("volcano", "PodGroup",
                 R"({"minMember":4,"subGroupPolicy":[{"name":"tp","subGroupSize":2,"minSubGroups":2,
                     "labelSelector":{"matchLabels":{"volcano.sh/task-spec":"worker"}},
                     "matchLabelKeys":["volcano.sh/partition-id"],
                     "networkTopology":{"mode":"hard","highestTierName":"leaf"}}]})"),
            "volcano/train: size ? min 4; worker ?..? parts 2..? of 2 (in leaf)");
  EXPECT_EQ(said("volcano", "PodGroup", R"({"subGroupPolicy":[{"subGroupSize":4}]})"),
            "volcano/train: size ? min ? parts ?..? of 4");
  EXPECT_THAT(said("volcano", "PodGroup",
                   R"({"subGroupPolicy":[{"labelSelector":{"matchLabels":{"app":"x"}}}]})"),
              testing::HasSubstr("spec.subGroupPolicy[0].labelSelector: only matchLabels with"));
}

TEST(GangObjects, PodGroupsOfOtherSchedulers) {
  EXPECT_EQ(said("scheduler-plugins", "PodGroup", R"({"minMember":8})"),
            "scheduler-plugins/train: size ? min 8");
  KubeGangObject object = object_of(R"({"minMember":4})");
  object.annotations["gang.scheduling.koordinator.sh/total-number"] = "6";
  object.annotations["gang.scheduling.koordinator.sh/network-topology-spec"] =
      R"({"gatherStrategy":[{"layer":"spine","strategy":"MustGather"},
          {"layer":"leaf","strategy":"PreferGather","podCountMultiple":2}]})";
  EXPECT_EQ(said(source_of("koordinator", "PodGroup"), object),
            "koordinator/train: size 6 min 4 (in spine near leaf 2 in leaf)");
  EXPECT_EQ(
      said("kai", "PodGroup",
           R"({"minMember":4,"topologyConstraint":{"topology":"t","requiredTopologyLevel":"zone",
                     "preferredTopologyLevel":"rack"},"subGroups":[{"name":"a","minMember":2},
                     {"name":"b","parent":"a","minMember":1,"topologyConstraint":
                     {"requiredTopologyLevel":"rack"}}]})"),
      "kai/train: size ? min 4 (in zone near rack); a 2..?; b in a 1..? (in rack)");
  EXPECT_EQ(said("kai", "PodGroup",
                 R"({"minSubGroup":1,"subGroups":[{"name":"a","minSubGroup":2},{"name":"b"},
                     {"name":"c","parent":"a"},{"name":"d","parent":"a"}]})"),
            "kai/train: size ? min ?; a ?..? of subgroups; b ?..? of subgroups; c in a ?..? of "
            "subgroups of a; d in a ?..? of subgroups of a; subgroups >= 1; subgroups of a >= 2");
  EXPECT_THAT(said("kai", "PodGroup", R"({"minSubGroup":3,"subGroups":[{"name":"a"}]})"),
              testing::HasSubstr("spec.minSubGroup: is more than the subgroups, 1"));
}

TEST(GangObjects, KubernetesOwnGangs) {
  EXPECT_EQ(said("kubernetes", "PodGroup",
                 R"({"schedulingPolicy":{"gang":{"minCount":5}},"schedulingConstraints":
                     {"topology":[{"key":"topology.kubernetes.io/zone"}]}})"),
            "kubernetes/train: size ? min 5 (in topology.kubernetes.io/zone)");
  EXPECT_EQ(said("kubernetes", "PodGroup", R"({"schedulingPolicy":{"basic":{}}})"),
            "kubernetes/train: size ? min 1");
  EXPECT_EQ(said("kubernetes", "Workload",
                 R"({"podGroups":[{"name":"a","policy":{"gang":{"minCount":2}}},
                     {"name":"b","policy":{"basic":{}}}]})"),
            "kubernetes/train/a/: size ? min 2\nkubernetes/train/b/: size ? min 1");
  EXPECT_THAT(said("kubernetes", "PodGroup", R"({"schedulingPolicy":{"gang":{}}})"),
              testing::HasSubstr("spec.schedulingPolicy.gang.minCount: is missing"));
}

TEST(GangObjects, Jobs) {
  EXPECT_EQ(said("job", "Job",
                 R"({"completionMode":"Indexed","completions":4,"parallelism":4,)" +
                     std::string(R"("template":)") + kGpus + "}"),
            "job/train: size 4 min ? 8 nvidia.com/gpu");
  EXPECT_EQ(said("job", "Job", R"({"completionMode":"Indexed","completions":8,"parallelism":4})"),
            "job/train: size ? min 1");
  EXPECT_EQ(said("job", "Job", R"({"completions":4,"parallelism":4})"), "job/train: size ? min 1");
  EXPECT_EQ(said("job", "Job", "{}"), "job/train: size ? min 1");
}

TEST(GangObjects, JobSetsAreARoleAJob) {
  KubeGangObject object = object_of(
      R"({"replicatedJobs":[{"name":"driver","template":{"spec":{}}},{"name":"w","replicas":2,
          "template":{"spec":{"parallelism":4,"completions":4,"template":{"metadata":
          {"annotations":{"kueue.x-k8s.io/podset-required-topology":"block"}}}}}}]})");
  EXPECT_EQ(said(source_of("jobset", "JobSet"), object),
            "jobset/train: size 9 min ?; driver/0 ?..1; w/0 ?..4 (in block each with w); w/1 ?..4 "
            "(in block each with w)");
  object.annotations["alpha.jobset.sigs.k8s.io/exclusive-topology"] = "pool";
  object.spec = R"({"replicatedJobs":[{"name":"w","replicas":2}]})";
  EXPECT_EQ(
      said(source_of("jobset", "JobSet"), object),
      "jobset/train: size 2 min ?; w/0 ?..1 (in pool each); w/1 ?..1 (in pool each); one after "
      "the other");
  EXPECT_THAT(said("jobset", "JobSet", R"({"replicatedJobs":[{"name":"w","replicas":5000}]})"),
              testing::HasSubstr("spec.replicatedJobs[0].replicas: makes more than 2000 Jobs"));
  EXPECT_THAT(
      said("jobset", "JobSet",
           R"({"replicatedJobs":[{"name":"w","template":{"spec":{"parallelism":3,"template":{
               "metadata":{"annotations":{"kueue.x-k8s.io/podset-slice-required-topology":"rack",
               "kueue.x-k8s.io/podset-slice-size":"2"}}}}}}]})"),
      testing::HasSubstr("problem: slices of 2 pods that reach over Jobs of 3"));
}

TEST(GangObjects, EachGroupOfALeaderWorkerSetIsAGang) {
  KubeGangObject object =
      object_of(R"({"replicas":2,"leaderWorkerTemplate":{"size":4,"subGroupPolicy":
                    {"subGroupSize":2},"workerTemplate":)" +
                std::string(kGpus) + "}}");
  object.annotations["leaderworkerset.sigs.k8s.io/exclusive-topology"] = "rack";
  object.annotations["leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"] = "host";
  const std::string each = "size 4 min ? 8 nvidia.com/gpu (in rack) parts ?..2 of 2 (in host)";
  EXPECT_EQ(said(source_of("lws", "LeaderWorkerSet"), object),
            "lws/train/0: " + each + "\nlws/train/1: " + each);
  EXPECT_EQ(said("lws", "LeaderWorkerSet", R"({"replicas":0})"), "");
  EXPECT_EQ(said("lws", "LeaderWorkerSet", R"({"leaderWorkerTemplate":{"size":2,"leaderTemplate":{},
                                              "workerTemplate":{"spec":{"containers":[]}}}})"),
            "lws/train/0: size 2 min ?");
}

TEST(GangObjects, KubeflowJobs) {
  EXPECT_EQ(said("trainer", "PyTorchJob",
                 R"({"pytorchReplicaSpecs":{"Worker":{"replicas":3},"Master":{"replicas":1}},
                     "runPolicy":{"schedulingPolicy":{"minAvailable":4}}})"),
            "trainer/train: size 4 min 4; master ?..1; worker ?..3");
  EXPECT_EQ(said("trainer", "PyTorchJob",
                 R"({"elasticPolicy":{"minReplicas":2,"maxReplicas":8},
                     "pytorchReplicaSpecs":{"Worker":{"replicas":4},"Master":{}}})"),
            "trainer/train: size 5 min 3; master ?..1; worker 2..4");
  EXPECT_EQ(
      said("trainer", "PaddleJob",
           R"({"elasticPolicy":{"minReplicas":3},"paddleReplicaSpecs":{"Worker":{"replicas":4}}})"),
      "trainer/train: size 4 min 3; worker 3..4");
  for (const auto& [kind, key] :
       std::vector<std::pair<const char*, const char*>>{{"TFJob", "tfReplicaSpecs"},
                                                        {"MPIJob", "mpiReplicaSpecs"},
                                                        {"PaddleJob", "paddleReplicaSpecs"},
                                                        {"XGBoostJob", "xgbReplicaSpecs"},
                                                        {"JAXJob", "jaxReplicaSpecs"}}) {
    EXPECT_EQ(said("trainer", kind,
                   std::string("{\"") + key + R"(":{"Worker":{"replicas":2},"Launcher":{}}})"),
              "trainer/train: size 3 min ?; launcher ?..1; worker ?..2");
  }
  EXPECT_EQ(said("trainjob", "TrainJob", R"({"trainer":{"numNodes":4}})"),
            "jobset/train: size ? min ?; node/0 ?..4");
  EXPECT_EQ(said("trainjob", "TrainJob", R"({"runtimeRef":{"name":"torch"}})"),
            "jobset/train: size ? min ?");
}

TEST(GangObjects, RayClusters) {
  const std::string groups =
      R"("headGroupSpec":{"template":{"spec":{"containers":[]}}},"workerGroupSpecs":[
         {"groupName":"a","replicas":4,"minReplicas":1,"maxReplicas":8},
         {"groupName":"tpu","replicas":2,"numOfHosts":4,"minReplicas":2},
         {"groupName":"off","replicas":2,"suspend":true}])";
  EXPECT_EQ(said("ray", "RayCluster", "{" + groups + "}"),
            "ray/train: size 13 min ?; headgroup ?..1 no chips; a ?..4; tpu ?..8; off ?..0");
  EXPECT_EQ(said("ray", "RayCluster", R"({"enableInTreeAutoscaling":true,)" + groups + "}"),
            "ray/train: size 13 min 10; headgroup ?..1 no chips; a 1..4; tpu 8..8; off ?..0");
  // KubeRay makes no more than maxReplicas, and no fewer than minReplicas
  EXPECT_EQ(said("ray", "RayCluster",
                 R"({"workerGroupSpecs":[{"groupName":"a","replicas":8,"maxReplicas":2},
                     {"groupName":"b","replicas":1,"minReplicas":3,"maxReplicas":2147483647}]})"),
            "ray/train: size 5 min ?; a ?..2; b ?..3");
}

TEST(GangObjects, AscendAndDlroverJobs) {
  KubeGangObject object = object_of(
      R"({"runPolicy":{"schedulingPolicy":{"minAvailable":4}},"replicaSpecs":{"Worker":{"replicas":3},
          "Master":{"replicas":1}}})");
  object.annotations["sp-block"] = "32";
  object.labels["tor-affinity"] = "normal-schema";
  EXPECT_EQ(said(source_of("ascend", "AscendJob"), object),
            "trainer/train: size 4 min 4 (ascend 32 tor normal); master ?..1; worker ?..3");
  const auto elastic = [](const std::string& command) {
    return said("dlrover", "ElasticJob",
                R"({"replicaSpecs":{"worker":{"replicas":4,"template":{"spec":{"containers":[
                    {"name":"m","command":["bash","-c",")" +
                    command + R"("]}]}}}}})");
  };
  EXPECT_EQ(elastic("dlrover-run --nnodes=2:4 train.py"),
            "dlrover/train: size 4 min 2; worker 2..4 no chips");
  EXPECT_EQ(elastic("dlrover-run --nnodes 3:4"),
            "dlrover/train: size 4 min 3; worker 3..4 no chips");
  for (const char* command : {"dlrover-run --nnodes=$NODE_NUM", "dlrover-run --nnodes=4",
                              "dlrover-run --nnodes=9:12", "dlrover-run --nnodes=-1:4"})
    EXPECT_EQ(elastic(command), "dlrover/train: size 4 min 4; worker ?..4 no chips") << command;
}

TEST(GangObjects, GrovePodGangs) {
  EXPECT_EQ(said("grove", "PodGang",
                 R"({"topologyConstraint":{"packConstraint":{"required":"block"}},
                     "topologyConstraintGroupConfigs":[{"name":"p","podGroupNames":["leader","w"],
                     "topologyConstraint":{"packConstraint":{"preferred":"rack"}}}],
                     "podgroups":[{"name":"leader","minReplicas":1,"podReferences":[{"name":"x"}]},
                     {"name":"w","minReplicas":2,"podReferences":[{},{},{}]},
                     {"name":"d","minReplicas":2,"podReferences":[]}]})"),
            "grove/train: size ? min ? (in block); leader in p 1..1; w in p 2..3; d 2..2; p ?..0 "
            "(near rack)");
  EXPECT_THAT(said("grove", "PodGang",
                   R"({"podgroups":[],"topologyConstraintGroupConfigs":[{"name":"p",
                       "podGroupNames":["x"]}]})"),
              testing::HasSubstr("unknown pod group \"x\""));
}

TEST(GangObjects, KueueWorkloadsAreAboutTheGangOfTheirOwner) {
  KubeGangObject object =
      object_of(R"({"podSets":[{"name":"main","count":8,"minCount":4,"topologyRequest":
                    {"required":"rack","podSetSliceRequiredTopology":"host","podSetSliceSize":2}}]})");
  EXPECT_EQ(said(source_of("kueue", "Workload"), object), "");
  object.owner = {"batch", "Job", "resnet"};
  EXPECT_EQ(said(source_of("kueue", "Workload"), object),
            "job/resnet: size 8 min 4 (in rack 2 in host each)");
  object.owner = {"", "Pod", "some-pod"};
  EXPECT_EQ(said(source_of("kueue", "Workload"), object),
            "kueue/train: size 8 min 4 (in rack 2 in host each)");
  object.owner = {"ray.io", "RayCluster", "r"};
  object.spec = R"({"podSets":[{"name":"head","count":1,"topologyRequest":{"podSetGroupName":"g"}},
                    {"name":"w","count":2,"topologyRequest":{"podSetGroupName":"g"}}]})";
  EXPECT_EQ(said(source_of("kueue", "Workload"), object),
            "ray/r: size 3 min ?; headgroup ?..1 (each with g); w ?..2 (each with g)");
  object.spec = R"({"podSets":[{"count":2,"minCount":3,"topologyRequest":{"required":"a",
                    "preferred":"b","unconstrained":true,"podSetSliceRequiredTopology":"c"}}]})";
  EXPECT_THAT(said(source_of("kueue", "Workload"), object),
              testing::AllOf(testing::HasSubstr("minCount: is more than count, 2"),
                             testing::HasSubstr("preferred: cannot be combined with required"),
                             testing::HasSubstr("unconstrained: cannot be combined"),
                             testing::HasSubstr("podSetSliceSize: is missing")));
}

// Every kind: empty, of wrong types, with absurd numbers, deep.
TEST(GangObjects, HostileObjectsAreRefusedInWords) {
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  for (const GangSource& source : gang_sources()) {
    KubeGangObject object = object_of("");
    object.owner = {"batch", "Job", "x"};
    for (const std::string spec : {"", "{}"}) {
      object.spec = spec;
      EXPECT_TRUE(read_gangs(source, object).ok()) << source.kind;
    }
    for (const std::string& spec : {deep, std::string("{"), R"({"a":1,"a":2})" + std::string()}) {
      object.spec = spec;
      EXPECT_FALSE(read_gangs(source, object).ok()) << source.kind << " " << spec;
    }
    // every key that a reader looks for, with a value of another type
    for (const char* value : {"-1", "1000000000", "1e300", "true", "\"x\"", "[]", "[1]", "[null]",
                              "{}", R"({"a":{}})", R"([{"name":7}])"}) {
      object.spec = "{";
      for (const char* key : {"tasks",
                              "minAvailable",
                              "networkTopology",
                              "minMember",
                              "minTaskMember",
                              "subGroupPolicy",
                              "topologyConstraint",
                              "subGroups",
                              "minSubGroup",
                              "schedulingPolicy",
                              "schedulingConstraints",
                              "podGroups",
                              "completions",
                              "parallelism",
                              "template",
                              "replicatedJobs",
                              "replicas",
                              "leaderWorkerTemplate",
                              "pytorchReplicaSpecs",
                              "elasticPolicy",
                              "runPolicy",
                              "replicaSpecs",
                              "trainer",
                              "headGroupSpec",
                              "workerGroupSpecs",
                              "podgroups",
                              "topologyConstraintGroupConfigs",
                              "podSets"})
        object.spec += (object.spec.size() > 1 ? ",\"" : "\"") + std::string(key) + "\":" + value;
      object.spec += "}";
      const auto gangs = read_gangs(source, object);
      ASSERT_TRUE(gangs.ok()) << source.kind << " " << value;
      if (value != std::string_view("-1")) continue;
      for (const DeclaredGang& gang : *gangs) EXPECT_NE(gang.spec.problem, "") << source.kind;
    }
  }
  EXPECT_THAT(said("volcano", "Job", R"({"tasks":[{"name":"w","replicas":1000000000}]})"),
              testing::HasSubstr("spec.tasks[0].replicas: must be 0 to 100000, not 1000000000"));
  EXPECT_THAT(said("volcano", "Job", R"({"tasks":[{"replicas":90000},{"replicas":90000}]})"),
              testing::HasSubstr("spec: makes 180000 pods, at most 100000 are accepted"));
  EXPECT_THAT(said("ray", "RayCluster", R"({"workerGroupSpecs":[{"groupName":"g","replicas":90000,
                                            "numOfHosts":90000}]})"),
              testing::HasSubstr("replicas: makes 8100000000 pods"));
  EXPECT_THAT(said("job", "Job", R"({"template":{"spec":{"containers":[{"resources":
                                   {"limits":{"nvidia.com/gpu":"many"}}}]}}})"),
              testing::HasSubstr("spec.template.spec: "));
}

TEST(GangObjects, AreReadFromListsAndWatches) {
  WatchReader<KubeGangObject> reader;
  std::string body = R"({"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a",
      "namespace":"n","uid":"u","resourceVersion":"5","labels":{"k":"v"},"annotations":{"x":"y"},
      "ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p"},{"apiVersion":"batch/v1",
      "kind":"Job","name":"j","controller":true},{"apiVersion":"v1","kind":"Pod","name":"q"}]},
      "spec":{"minMember":3},"status":{"phase":"Running"}},{"metadata":{"name":"b"}}]})";
  const auto page = reader.read_page(body);
  ASSERT_TRUE(page.ok()) << page.error().text();
  ASSERT_EQ(page->objects.size(), 2U);
  const KubeGangObject& first = page->objects.front();
  EXPECT_EQ(first.ns + " " + first.name + " " + first.uid + " " + first.resource_version,
            "n a u 5");
  EXPECT_EQ(first.owner, (OwnerName{"batch", "Job", "j"}));
  EXPECT_EQ(first.labels.at("k") + first.annotations.at("x"), "vy");
  EXPECT_EQ(first.spec, R"({"minMember":3})");
  EXPECT_EQ(page->objects.back().spec, "");
  std::string line = R"({"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"5"},
      "spec":7}})";
  const auto event = reader.read_event(line);
  ASSERT_TRUE(event.ok()) << event.error().text();
  EXPECT_EQ(said(source_of("job", "Job"), event->object),
            "job/a: size ? min 1; problem: spec: expected an object, got 7");
}

// Each object of a published manifest, "kind: what it says".
std::vector<std::string> said_of_manifest(const std::string& name) {
  const auto text = test::file_content(test::shared_data_path("manifests/" + name));
  if (!text) return {};
  std::vector<std::string> out;
  const auto documents = parse_yaml(*text);
  if (!documents) return {documents.error().text()};
  for (const YamlDocument& document : *documents) {
    const JsonValue root(document.tree);
    const std::string_view version = root["apiVersion"].text();
    for (const GangSource& source : gang_sources()) {
      if (root["kind"].text() != source.kind ||
          version != std::string(source.group) + "/" + source.versions[0])
        continue;
      KubeGangObject object = object_of(std::string(root["spec"].raw()));
      object.name = root["metadata"]["name"].text();
      out.push_back(said(source, object));
    }
  }
  return out;
}

TEST(GangObjects, PublishedManifests) {
  if (!test::file_content(test::shared_data_path("manifests/SOURCES.md")))
    GTEST_SKIP() << "the shared data are not there; see CONTRIBUTING.md";
  using testing::ElementsAre;
  EXPECT_THAT(
      said_of_manifest("modelarts-volcano-job.yaml"),
      ElementsAre("volcano/yourvcjobname: size 6 min 6; worker ?..6 8 huawei.com/ascend-1980"));
  EXPECT_THAT(
      said_of_manifest("koordinator-gang-elasticjob.yaml"),
      ElementsAre("koordinator/torch-mnist-gang: size ? min 4",
                  "dlrover/torch-mnist-gang: size 2 min 2; worker ?..2 1 metax-tech.com/gpu"));
  EXPECT_THAT(said_of_manifest("dlrover-elasticjob.yaml"),
              ElementsAre("dlrover/fine-tuning-llama2: size 4 min 4; worker ?..4 8 "
                          "metax-tech.com/gpu"));
  for (const char* name : {"ack-pytorchjob-plain.yaml", "ack-pytorchjob-topology.yaml"})
    EXPECT_THAT(
        said_of_manifest(name),
        ElementsAre(testing::StartsWith("trainer/pytorch-dist-nccl: size 2 min ?; master ?..1 ")));
  for (const char* name : {"mindie-controller.yaml", "mindie-server-0.yaml"})
    EXPECT_THAT(said_of_manifest(name),
                testing::Contains(testing::AllOf(testing::StartsWith("trainer/mindie-"),
                                                 testing::Not(testing::HasSubstr("problem")))));
}

TEST(GangObjects, TheChartGrantsWhatIsWatched) {
  const auto rules =
      test::file_content(test::source_path("charts/chipweave/templates/scheduler-rbac.yaml"));
  const auto schema = test::file_content(test::source_path("charts/chipweave/values.schema.json"));
  ASSERT_TRUE(rules && schema);
  const std::size_t kinds = schema->find("\"gangs\": {");
  for (const GangSource& source : gang_sources()) {
    EXPECT_NE(schema->find("\"" + std::string(source.setting) + "\"", kinds), std::string::npos)
        << source.setting;
    const std::size_t line = rules->find("  \"" + std::string(source.setting) + "\" (list");
    ASSERT_NE(line, std::string::npos) << source.setting;
    const std::string granted = rules->substr(line, rules->find('\n', line) - line);
    const std::size_t group = granted.find("(list \"" + std::string(source.group) + "\"");
    ASSERT_NE(group, std::string::npos) << granted;
    EXPECT_LT(granted.find("\"" + std::string(source.resource) + "\"", group),
              granted.find(')', group))
        << granted;
  }
}

TEST(GangObjects, EveryKindHasASettingAndAPath) {
  EXPECT_THAT(gang_settings(),
              testing::ElementsAre("volcano", "scheduler-plugins", "koordinator", "kai",
                                   "kubernetes", "job", "jobset", "lws", "trainer", "trainjob",
                                   "ray", "ascend", "dlrover", "grove", "kueue"));
}

}  // namespace
}  // namespace chipweave::codec
