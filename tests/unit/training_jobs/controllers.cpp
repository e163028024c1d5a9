// Kubernetes' Job, JobSet 0.12, LeaderWorkerSet 0.10.
#include "tests/unit/training_jobs/controllers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <stdexcept>

namespace chipweave::sched::test {
namespace {

using Controller = void (*)(const Json&, Created&);

void run_pod(const Json& pod, Created& to) { to.pods.push_back(pod); }
void run_nothing(const Json&, Created&) {}

const std::map<std::string, Controller>& controllers() {
  static const std::map<std::string, Controller> kControllers{
      {"v1/Pod", run_pod},
      {"v1/ConfigMap", run_nothing},
      {"batch/v1/Job", run_job},
      {"jobset.x-k8s.io/v1alpha2/JobSet", run_jobset},
      {"leaderworkerset.x-k8s.io/v1/LeaderWorkerSet", run_leader_worker_set},
      {"kubeflow.org/v1/PyTorchJob", run_training_job},
      {"kubeflow.org/v2beta1/MPIJob", run_mpi_job},
      {"trainer.kubeflow.org/v1alpha1/ClusterTrainingRuntime", run_nothing},
      {"trainer.kubeflow.org/v1alpha1/TrainJob", run_train_job},
      {"ray.io/v1/RayCluster", run_ray_cluster},
      {"batch.volcano.sh/v1alpha1/Job", run_volcano_job},
      {"mindxdl.gitee.com/v1/AscendJob", run_ascend_job},
      {"elastic.iml.github.io/v1alpha1/ElasticJob", run_elastic_job},
      {"scheduling.x-k8s.io/v1alpha1/PodGroup", run_nothing},
      {"scheduling.sigs.k8s.io/v1alpha1/PodGroup", run_nothing}};
  return kControllers;
}

// The labels and annotations that JobSet gives Jobs and their pods.
Json jobset_keys(const Json& set, const std::string& replicated, int index) {
  return {{"jobset.sigs.k8s.io/jobset-name", set["metadata"]["name"]},
          {"jobset.sigs.k8s.io/jobset-uid", kObjectUid},
          {"jobset.sigs.k8s.io/replicatedjob-name", replicated},
          {"jobset.sigs.k8s.io/job-index", std::to_string(index)}};
}

void copy_annotation(const Json& from, const char* key, Json& to) {
  const auto metadata = from.find("metadata");
  if (metadata == from.end() || !metadata->contains("annotations")) return;
  if (metadata->at("annotations").contains(key)) to[key] = metadata->at("annotations").at(key);
}

}  // namespace

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Json owned_by(const Json& object) {
  return Json::array({{{"apiVersion", object["apiVersion"]},
                       {"kind", object["kind"]},
                       {"name", object["metadata"]["name"]},
                       {"uid", kObjectUid},
                       {"controller", true}}});
}

std::string random_suffix(std::size_t number) {
  constexpr std::array<const char*, 8> kSuffixes{"x7k2p", "m4tqd", "9hzwn", "c5rvb",
                                                 "2gjxs", "w8lfk", "n6pdt", "q3mzh"};
  return kSuffixes.at(number);
}

Json pod_of(const Json& owner, const Json& pod_template, const PodMetadata& metadata) {
  const Json given = pod_template.value("metadata", Json::object());
  Json labels = given.value("labels", Json::object());
  labels.update(metadata.labels);
  Json annotations = given.value("annotations", Json::object());
  annotations.update(metadata.annotations);
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata",
           {{"name", metadata.name},
            {"namespace", owner["metadata"]["namespace"]},
            {"labels", std::move(labels)},
            {"annotations", std::move(annotations)},
            {"ownerReferences", owned_by(owner)}}},
          {"spec", pod_template.at("spec")},
          {"status", {{"phase", "Pending"}}}};
}

Created apply(const std::vector<Json>& documents) {
  Created out;
  for (Json object : documents) {
    Json& metadata = object["metadata"];
    if (!metadata.contains("namespace")) metadata["namespace"] = "team";
    out.objects.push_back(object);
  }
  const std::vector<Json> applied = out.objects;
  for (const Json& object : applied) {
    const std::string kind =
        object["apiVersion"].get<std::string>() + "/" + object["kind"].get<std::string>();
    const auto controller = controllers().find(kind);
    if (controller == controllers().end()) throw std::runtime_error("no controller of " + kind);
    controller->second(object, out);
  }
  return out;
}

void run_job(const Json& job, Created& to) {
  const Json& spec = job["spec"];
  const bool indexed = spec.value("completionMode", "") == "Indexed";
  const std::string name = job["metadata"]["name"];
  const int pods = std::min(spec.value("parallelism", 1), spec.value("completions", 1));
  for (int i = 0; i < pods; ++i) {
    const std::string index = std::to_string(i);
    PodMetadata metadata;
    metadata.name = name + (indexed ? "-" + index : "") + "-" + random_suffix(to.pods.size());
    metadata.labels = {{"batch.kubernetes.io/job-name", name},
                       {"job-name", name},
                       {"batch.kubernetes.io/controller-uid", kObjectUid}};
    if (indexed) {
      metadata.labels["batch.kubernetes.io/job-completion-index"] = index;
      metadata.annotations["batch.kubernetes.io/job-completion-index"] = index;
    }
    to.pods.push_back(pod_of(job, spec.at("template"), metadata));
  }
}

void run_jobset(const Json& set, Created& to) {
  constexpr const char* kExclusive = "alpha.jobset.sigs.k8s.io/exclusive-topology";
  for (const Json& replicated : set["spec"]["replicatedJobs"]) {
    const std::string name = replicated["name"];
    for (int i = 0; i < replicated.value("replicas", 1); ++i) {
      const Json keys = jobset_keys(set, name, i);
      Json annotations = keys;
      copy_annotation(set, kExclusive, annotations);
      copy_annotation(replicated["template"], kExclusive, annotations);
      Json job = {{"apiVersion", "batch/v1"},
                  {"kind", "Job"},
                  {"metadata",
                   {{"name", set["metadata"]["name"].get<std::string>() + "-" + name + "-" +
                                 std::to_string(i)},
                    {"namespace", set["metadata"]["namespace"]},
                    {"labels", keys},
                    {"annotations", annotations},
                    {"ownerReferences", owned_by(set)}}},
                  {"spec", replicated["template"]["spec"]}};
      if (!job["spec"].contains("completionMode")) job["spec"]["completionMode"] = "Indexed";
      Json& metadata = job["spec"]["template"]["metadata"];
      metadata["labels"].update(keys);
      metadata["annotations"].update(annotations);
      to.objects.push_back(job);
      run_job(job, to);
    }
  }
}

void run_leader_worker_set(const Json& set, Created& to) {
  const Json& spec = set["spec"];
  const Json& group = spec["leaderWorkerTemplate"];
  const std::string name = set["metadata"]["name"];
  const int size = group.value("size", 1);
  for (int g = 0; g < spec.value("replicas", 1); ++g) {
    for (int i = 0; i < size; ++i) {
      PodMetadata pod;
      pod.name = name + "-" + std::to_string(g) + (i == 0 ? "" : "-" + std::to_string(i));
      pod.labels = {{"leaderworkerset.sigs.k8s.io/name", name},
                    {"leaderworkerset.sigs.k8s.io/group-index", std::to_string(g)},
                    {"leaderworkerset.sigs.k8s.io/worker-index", std::to_string(i)},
                    {"leaderworkerset.sigs.k8s.io/group-key", "hash-" + std::to_string(g)}};
      pod.annotations["leaderworkerset.sigs.k8s.io/size"] = std::to_string(size);
      copy_annotation(set, "leaderworkerset.sigs.k8s.io/exclusive-topology", pod.annotations);
      const bool own = i == 0 && group.contains("leaderTemplate");
      to.pods.push_back(pod_of(set, group.at(own ? "leaderTemplate" : "workerTemplate"), pod));
    }
  }
}

}  // namespace chipweave::sched::test
