// Kubeflow's training-operator 1.9, mpi-operator 0.8 and Trainer 2.3, KubeRay 1.7, Volcano 1.15,
// MindCluster's ascend-operator, DLRover 0.6.
#include <algorithm>
#include <stdexcept>

#include "tests/unit/training_jobs/controllers.hpp"

namespace chipweave::sched::test {
namespace {

std::string name_of(const Json& object) { return object["metadata"]["name"]; }

void add_replica(const Json& job, const Json& replica, const PodMetadata& pod, Created& to) {
  Json pod_template = replica.at("template");
  if (replica.contains("restartPolicy"))
    pod_template["spec"]["restartPolicy"] = replica["restartPolicy"];
  to.pods.push_back(pod_of(job, pod_template, pod));
}

// Pods of a map from replica types, with the labels of the training operator's library.
void run_replica_specs(const Json& job, const char* key, Created& to) {
  for (const auto& [type, replica] : job["spec"].at(key).items()) {
    const std::string role = lower(type);
    for (int i = 0; i < replica.value("replicas", 1); ++i) {
      PodMetadata pod;
      pod.name = name_of(job) + "-" + role + "-" + std::to_string(i);
      pod.labels = {{"training.kubeflow.org/job-name", name_of(job)},
                    {"training.kubeflow.org/operator-name", lower(job["kind"]) + "-controller"},
                    {"training.kubeflow.org/replica-type", role},
                    {"training.kubeflow.org/replica-index", std::to_string(i)}};
      if (role == "master") pod.labels["training.kubeflow.org/job-role"] = "master";
      add_replica(job, replica, pod, to);
    }
  }
}

const Json& runtime_of(const Json& job, const Created& all) {
  for (const Json& object : all.objects)
    if (object["kind"] == "ClusterTrainingRuntime" &&
        object["metadata"]["name"] == job["spec"]["runtimeRef"]["name"])
      return object;
  throw std::runtime_error("no runtime of TrainJob " + name_of(job));
}

}  // namespace

void run_training_job(const Json& job, Created& to) {
  run_replica_specs(job, "pytorchReplicaSpecs", to);
}

void run_ascend_job(const Json& job, Created& to) { run_replica_specs(job, "replicaSpecs", to); }

void run_mpi_job(const Json& job, Created& to) {
  const bool launcher_works = job["spec"].value("runLauncherAsWorker", false);
  const Json& specs = job["spec"].at("mpiReplicaSpecs");
  const auto labels = [&](const char* role) {
    return Json{{"training.kubeflow.org/job-name", name_of(job)},
                {"training.kubeflow.org/operator-name", "mpi-operator"},
                {"training.kubeflow.org/job-role", role}};
  };
  for (int i = 0; i < specs.at("Worker").value("replicas", 1); ++i) {
    PodMetadata pod;
    pod.name = name_of(job) + "-worker-" + std::to_string(i);
    pod.labels = labels("worker");
    pod.labels["training.kubeflow.org/replica-index"] = std::to_string(launcher_works ? i + 1 : i);
    add_replica(job, specs["Worker"], pod, to);
  }
  Json launcher = {{"apiVersion", "batch/v1"},
                   {"kind", "Job"},
                   {"metadata",
                    {{"name", name_of(job) + "-launcher"},
                     {"namespace", job["metadata"]["namespace"]},
                     {"ownerReferences", owned_by(job)}}},
                   {"spec", {{"template", specs.at("Launcher").at("template")}}}};
  Json& given = launcher["spec"]["template"]["metadata"]["labels"];
  if (given.is_null()) given = Json::object();
  given.update(labels("launcher"));
  if (launcher_works) given["training.kubeflow.org/replica-index"] = "0";
  to.objects.push_back(launcher);
  run_job(launcher, to);
}

// A JobSet of the same name, from the runtime.
void run_train_job(const Json& job, Created& to) {
  const Json& runtime = runtime_of(job, to);
  const Json trainer = job["spec"].value("trainer", Json::object());
  Json set = {{"apiVersion", "jobset.x-k8s.io/v1alpha2"},
              {"kind", "JobSet"},
              {"metadata",
               {{"name", name_of(job)},
                {"namespace", job["metadata"]["namespace"]},
                {"ownerReferences", owned_by(job)}}},
              {"spec", runtime["spec"]["template"]["spec"]}};
  constexpr const char* kStep = "trainer.kubeflow.org/trainjob-ancestor-step";
  for (Json& replicated : set["spec"]["replicatedJobs"]) {
    const Json labels = replicated["template"].value("/metadata/labels"_json_pointer, Json());
    if (labels.value(kStep, "") != "trainer") continue;
    const int nodes =
        trainer.value("numNodes", runtime["spec"].value("/mlPolicy/numNodes"_json_pointer, 1));
    Json& spec = replicated["template"]["spec"];
    spec["parallelism"] = nodes;
    spec["completions"] = nodes;
    for (Json& container : spec["template"]["spec"]["containers"])
      if (container["name"] == "node" && trainer.contains("resourcesPerNode"))
        container["resources"] = trainer["resourcesPerNode"];
  }
  to.objects.push_back(set);
  run_jobset(set, to);
}

void run_ray_cluster(const Json& cluster, Created& to) {
  const auto labels = [&](const char* type, const std::string& group) {
    return Json{{"ray.io/cluster", name_of(cluster)},
                {"ray.io/node-type", type},
                {"ray.io/group", group},
                {"ray.io/is-ray-node", "yes"}};
  };
  const auto name = [&](const std::string& part) {
    return name_of(cluster) + "-" + part + "-" + random_suffix(to.pods.size());
  };
  to.pods.push_back(pod_of(cluster, cluster["spec"].at("headGroupSpec").at("template"),
                           {name("head"), labels("head", "headgroup"), Json::object()}));
  for (const Json& group : cluster["spec"].value("workerGroupSpecs", Json::array())) {
    const std::string group_name = group.at("groupName");
    const int hosts = group.value("numOfHosts", 1);
    int replicas = group.value("replicas", 0);
    if (replicas < group.value("minReplicas", 0)) {
      replicas = group["minReplicas"];
    } else if (group.contains("maxReplicas")) {
      replicas = std::min<int>(replicas, group["maxReplicas"]);
    }
    for (int i = 0; i < replicas * hosts; ++i) {
      PodMetadata pod{name(group_name + "-worker"), labels("worker", group_name), Json::object()};
      pod.labels["ray.io/worker-group-replica-index"] = std::to_string(i / hosts);
      if (hosts > 1) pod.labels["ray.io/replica-host-index"] = std::to_string(i % hosts);
      to.pods.push_back(pod_of(cluster, group.at("template"), pod));
    }
  }
}

void run_volcano_job(const Json& job, Created& to) {
  const std::string group = name_of(job) + "-" + kObjectUid;
  const Json& spec = job["spec"];
  Json pod_group = {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                    {"kind", "PodGroup"},
                    {"metadata",
                     {{"name", group},
                      {"namespace", job["metadata"]["namespace"]},
                      {"ownerReferences", owned_by(job)}}},
                    {"spec", {{"minMember", spec.value("minAvailable", 0)}}}};
  if (spec.contains("networkTopology"))
    pod_group["spec"]["networkTopology"] = spec["networkTopology"];
  to.objects.push_back(pod_group);
  for (const Json& task : spec.at("tasks")) {
    const std::string role = task.at("name");
    for (int i = 0; i < task.value("replicas", 1); ++i) {
      const std::string index = std::to_string(i);
      PodMetadata pod;
      pod.name = name_of(job) + "-" + role + "-" + index;
      pod.labels = {{"volcano.sh/job-name", name_of(job)},
                    {"volcano.sh/task-spec", role},
                    {"volcano.sh/task-index", index}};
      pod.annotations = pod.labels;
      pod.annotations["scheduling.k8s.io/group-name"] = group;
      Json pod_template = task.at("template");
      if (!pod_template["spec"].contains("schedulerName"))
        pod_template["spec"]["schedulerName"] = spec.value("schedulerName", "volcano");
      to.pods.push_back(pod_of(job, pod_template, pod));
    }
  }
}

// The master, which makes the others, has no chips.
void run_elastic_job(const Json& job, Created& to) {
  const auto labels = [&](const std::string& role, int index) {
    return Json{{"app", "dlrover"},
                {"elasticjob.dlrover/name", name_of(job)},
                {"elasticjob.dlrover/replica-type", role},
                {"elasticjob.dlrover/replica-index", std::to_string(index)},
                {"elasticjob.dlrover/rank-index", std::to_string(index)}};
  };
  Json container;
  container["name"] = "main";
  Json master;
  master["spec"]["containers"].push_back(container);
  to.pods.push_back(pod_of(job, master,
                           {"elasticjob-" + name_of(job) + "-dlrover-master-0",
                            labels("dlrover-master", 0), Json::object()}));
  for (const auto& [type, replica] : job["spec"].at("replicaSpecs").items()) {
    for (int i = 0; i < replica.value("replicas", 1); ++i) {
      PodMetadata pod{name_of(job) + "-edljob-" + type + "-" + std::to_string(i), labels(type, i),
                      Json::object()};
      to.pods.push_back(pod_of(job, replica.at("template"), pod));
    }
  }
}

}  // namespace chipweave::sched::test
