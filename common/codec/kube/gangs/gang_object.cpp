#include "common/codec/kube/gangs/gang_object.hpp"

#include <utility>

#include "common/codec/kube/gangs/gang_reading.hpp"

namespace chipweave::codec {
namespace {

constexpr JsonLimits kSpecLimits{limits::kMaxKubeObjectBytes, limits::kMaxManifestValues};

// Of two objects that speak of one gang the earlier counts: jobs, which know their pods, before
// the groups that their operators make of them.
constexpr std::array<GangSource, 22> kSources{{
    {"volcano", "batch.volcano.sh", {"v1alpha1", nullptr}, "jobs", "Job", read_volcano_job},
    {"volcano",
     "scheduling.volcano.sh",
     {"v1beta1", nullptr},
     "podgroups",
     "PodGroup",
     read_volcano_pod_group},
    {"scheduler-plugins",
     "scheduling.x-k8s.io",
     {"v1alpha1", nullptr},
     "podgroups",
     "PodGroup",
     read_scheduler_plugins_pod_group},
    {"koordinator",
     "scheduling.sigs.k8s.io",
     {"v1alpha1", nullptr},
     "podgroups",
     "PodGroup",
     read_koordinator_pod_group},
    {"kai",
     "scheduling.run.ai",
     {"v2alpha2", nullptr},
     "podgroups",
     "PodGroup",
     read_kai_pod_group},
    {"kubernetes",
     "scheduling.k8s.io",
     {"v1beta1", "v1alpha2"},
     "podgroups",
     "PodGroup",
     read_native_pod_group},
    {"kubernetes",
     "scheduling.k8s.io",
     {"v1alpha1", nullptr},
     "workloads",
     "Workload",
     read_native_workload},
    {"job", "batch", {"v1", nullptr}, "jobs", "Job", read_batch_job},
    {"jobset", "jobset.x-k8s.io", {"v1alpha2", nullptr}, "jobsets", "JobSet", read_jobset},
    {"lws",
     "leaderworkerset.x-k8s.io",
     {"v1", nullptr},
     "leaderworkersets",
     "LeaderWorkerSet",
     read_lws},
    {"trainer", "kubeflow.org", {"v1", nullptr}, "pytorchjobs", "PyTorchJob", read_pytorch_job},
    {"trainer", "kubeflow.org", {"v1", nullptr}, "tfjobs", "TFJob", read_tf_job},
    {"trainer", "kubeflow.org", {"v2beta1", "v1"}, "mpijobs", "MPIJob", read_mpi_job},
    {"trainer", "kubeflow.org", {"v1", nullptr}, "paddlejobs", "PaddleJob", read_paddle_job},
    {"trainer", "kubeflow.org", {"v1", nullptr}, "xgboostjobs", "XGBoostJob", read_xgboost_job},
    {"trainer", "kubeflow.org", {"v1", nullptr}, "jaxjobs", "JAXJob", read_jax_job},
    {"trainjob",
     "trainer.kubeflow.org",
     {"v1alpha1", nullptr},
     "trainjobs",
     "TrainJob",
     read_train_job},
    {"ray", "ray.io", {"v1", nullptr}, "rayclusters", "RayCluster", read_ray_cluster},
    {"ascend", "mindxdl.gitee.com", {"v1", nullptr}, "ascendjobs", "AscendJob", read_ascend_job},
    {"dlrover",
     "elastic.iml.github.io",
     {"v1alpha1", nullptr},
     "elasticjobs",
     "ElasticJob",
     read_elastic_job},
    {"grove", "scheduler.grove.io", {"v1alpha1", nullptr}, "podgangs", "PodGang", read_pod_gang},
    {"kueue",
     "kueue.x-k8s.io",
     {"v1beta2", "v1beta1"},
     "workloads",
     "Workload",
     read_kueue_workload},
}};

}  // namespace

std::span<const GangSource> gang_sources() { return kSources; }

std::vector<std::string_view> gang_settings() {
  std::vector<std::string_view> out;
  for (const GangSource& source : kSources)
    if (out.empty() || out.back() != source.setting) out.emplace_back(source.setting);
  return out;
}

Result<std::vector<DeclaredGang>> read_gangs(const GangSource& source,
                                             const KubeGangObject& object) {
  const std::string_view text = object.spec.empty() ? std::string_view("{}") : object.spec;
  const auto tree = parse_json(text, kSpecLimits);
  if (!tree) return Error(tree.error()).in("spec");
  const JsonValue root(*tree);
  JsonProblems problems(root, "spec");
  GangReading reading(root, problems);
  source.read(object, reading);
  const domain::TopologyWish of_object = topology_of_object(object.labels, object.annotations);
  const std::string problem = problems.any() ? problems.error().text() : std::string();
  for (DeclaredGang& gang : reading.gangs()) {
    add_missing(gang.spec.topology, of_object);
    gang.spec.problem = problem;
  }
  return std::move(reading.gangs());
}

}  // namespace chipweave::codec
