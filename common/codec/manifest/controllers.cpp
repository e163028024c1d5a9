// What each controller creates from its object: pod names, labels and annotations. Sources:
// Kubernetes' Job and StatefulSet, Volcano's job controller, Kubeflow's training operator,
// MindCluster's ascend-operator (built on the same library), DLRover's job master.
#include <algorithm>
#include <array>

#include "common/base/text.hpp"
#include "common/codec/kube/gangs/replica_types.hpp"
#include "common/codec/manifest/expansion.hpp"

namespace chipweave::codec {
namespace {

using nlohmann::json;

std::string indexed(const std::string& where, std::size_t index) {
  return where + "[" + std::to_string(index) + "]";
}

void expand_pod(const ManifestObject& object, Expansion& out, Shape& shape) {
  if (!out.room_for(1, object.body, "Pod " + object.name, shape)) return;
  out.add_pod(object, object.body, {object.name, {}, {}, json::object()}, "Pod", shape);
}

// Deployment, ReplicaSet: the suffix is random in a cluster, counted here.
void expand_replicas(const ManifestObject& object, Expansion& out, Shape& shape) {
  const JsonValue spec = shape.object(object.body, "spec", "");
  const int replicas = shape.count(spec, "replicas", "spec", 1);
  const JsonValue pod_template = shape.object(spec, "template", "spec");
  if (!out.room_for(replicas, pod_template, "spec.replicas", shape)) return;
  const bool stateful = object.kind == "StatefulSet";
  const int first =
      stateful ? shape.count(shape.object(spec, "ordinals", "spec"), "start", "spec.ordinals", 0)
               : 0;
  for (int i = 0; i < replicas && shape.sound(); ++i) {
    const std::string index = std::to_string(static_cast<long>(first) + i);
    PodIdentity identity{object.name + "-" + index, {}, {}, json::object()};
    if (stateful) {
      identity.labels = {{"apps.kubernetes.io/pod-index", index},
                         {"statefulset.kubernetes.io/pod-name", identity.name}};
    }
    out.add_pod(object, pod_template, identity, "spec.template", shape);
  }
}

// The pods that run at first: as many as `parallelism` allows.
void expand_batch_job(const ManifestObject& object, Expansion& out, Shape& shape) {
  const JsonValue spec = shape.object(object.body, "spec", "");
  const int parallelism = shape.count(spec, "parallelism", "spec", 1);
  const int completions = shape.count(spec, "completions", "spec", parallelism);
  const bool is_indexed = shape.text(spec, "completionMode", "spec") == "Indexed";
  if (shape.flag(spec, "suspend", "spec")) {
    out.note("Job " + object.name + " is suspended: it makes no pods");
    return;
  }
  const int pods = std::min(parallelism, completions);
  const JsonValue pod_template = shape.object(spec, "template", "spec");
  if (!out.room_for(pods, pod_template, "spec.parallelism", shape)) return;
  if (completions > pods) {
    out.note("Job " + object.name + ": the first " + std::to_string(pods) + " of " +
             std::to_string(completions) + " completions, as parallelism says");
  }
  for (int i = 0; i < pods && shape.sound(); ++i) {
    const std::string index = std::to_string(i);
    PodIdentity identity{object.name + "-" + index, {}, {}, json::object()};
    identity.labels = {{"batch.kubernetes.io/job-name", object.name}, {"job-name", object.name}};
    if (is_indexed) {
      identity.labels["batch.kubernetes.io/job-completion-index"] = index;
      identity.annotations["batch.kubernetes.io/job-completion-index"] = index;
    }
    out.add_pod(object, pod_template, identity, "spec.template", shape);
  }
}

PodIdentity volcano_identity(const ManifestObject& job, const std::string& task, int index,
                             JsonValue spec, Shape& shape) {
  const std::string number = std::to_string(index);
  std::string queue = shape.text(spec, "queue", "spec");
  if (queue.empty()) queue = "default";
  PodIdentity identity{job.name + "-" + task + "-" + number, {}, {}, json::object()};
  identity.labels = {{"volcano.sh/job-name", job.name},
                     {"volcano.sh/job-namespace", job.ns},
                     {"volcano.sh/queue-name", queue},
                     {"volcano.sh/task-index", number},
                     {"volcano.sh/task-spec", task}};
  identity.annotations = {{"scheduling.k8s.io/group-name", job.name},
                          {"volcano.sh/job-name", job.name},
                          {"volcano.sh/job-version", "0"},
                          {"volcano.sh/queue-name", queue},
                          {"volcano.sh/task-index", number},
                          {"volcano.sh/task-spec", task},
                          {"volcano.sh/template-uid", job.name + "-" + task}};
  const std::string scheduler = shape.text(spec, "schedulerName", "spec");
  if (!scheduler.empty()) identity.spec_defaults["schedulerName"] = scheduler;
  return identity;
}

void expand_volcano_job(const ManifestObject& object, Expansion& out, Shape& shape) {
  const JsonValue spec = shape.object(object.body, "spec", "");
  const JsonValue tasks = shape.array(spec, "tasks", "spec");
  if (tasks.empty()) shape.problem("spec.tasks", "must list at least one task");
  std::size_t t = 0;
  for (const JsonValue task : tasks) {
    if (!shape.sound()) return;
    const std::string where = indexed("spec.tasks", t);
    if (!task.is_object()) return shape.problem(where, expected("a map", task));
    std::string name = shape.text(task, "name", where);
    if (name.empty()) name = "default" + std::to_string(t);  // Volcano's admission names it so
    const int replicas = shape.count(task, "replicas", where, 1);
    const JsonValue pod_template = shape.object(task, "template", where);
    if (!out.room_for(replicas, pod_template, where + ".replicas", shape)) return;
    for (int i = 0; i < replicas && shape.sound(); ++i) {
      out.add_pod(object, pod_template, volcano_identity(object, name, i, spec, shape),
                  where + ".template", shape);
    }
    ++t;
  }
}

using IdentityOf = PodIdentity (*)(const ManifestObject& job, const std::string& type,
                                   JsonValue replica_spec, int index);

// Objects of the form spec.<key>.<Type>.{replicas, template}.
void expand_replica_specs(const ManifestObject& object, const char* key, IdentityOf identity_of,
                          Expansion& out, Shape& shape) {
  const JsonValue spec = shape.object(object.body, "spec", "");
  const JsonValue specs = shape.object(spec, key, "spec");
  if (specs.empty()) {
    shape.problem(std::string("spec.") + key, "must have at least one replica type");
  }
  for (const std::string& type : replica_types(specs)) {
    const std::string where = std::string("spec.") + key + "." + type;
    const JsonValue replica = shape.object(specs, type, std::string("spec.") + key);
    const int replicas = shape.count(replica, "replicas", where, 1);
    const JsonValue pod_template = shape.object(replica, "template", where);
    if (!out.room_for(replicas, pod_template, where + ".replicas", shape)) return;
    for (int i = 0; i < replicas && shape.sound(); ++i) {
      out.add_pod(object, pod_template, identity_of(object, lower_case(type), replica, i),
                  where + ".template", shape);
    }
  }
}

PodIdentity training_identity(const ManifestObject& job, const std::string& type,
                              JsonValue replica_spec, int index) {
  const std::string number = std::to_string(index);
  PodIdentity identity{job.name + "-" + type + "-" + number, {}, {}, json::object()};
  identity.labels = {{"training.kubeflow.org/job-name", job.name},
                     {"training.kubeflow.org/operator-name", lower_case(job.kind) + "-controller"},
                     {"training.kubeflow.org/replica-index", number},
                     {"training.kubeflow.org/replica-type", type}};
  if (type == "master") identity.labels["training.kubeflow.org/job-role"] = "master";
  if (const JsonValue policy = replica_spec["restartPolicy"]) {
    identity.spec_defaults["restartPolicy"] = json::parse(policy.raw());
  }
  return identity;
}

// The ascend-operator is built on the training operator's library and gives the same labels; the
// job names its scheduler once for all pods.
PodIdentity ascend_identity(const ManifestObject& job, const std::string& type,
                            JsonValue replica_spec, int index) {
  PodIdentity identity = training_identity(job, type, replica_spec, index);
  if (const auto scheduler = job.body["spec"]["schedulerName"].string()) {
    identity.spec_defaults["schedulerName"] = *scheduler;
  }
  return identity;
}

PodIdentity elastic_identity(const ManifestObject& job, const std::string& type, JsonValue,
                             int index) {
  const std::string number = std::to_string(index);
  PodIdentity identity{job.name + "-edljob-" + type + "-" + number, {}, {}, json::object()};
  identity.labels = {{"app", "dlrover"},
                     {"elasticjob.dlrover/name", job.name},
                     {"elasticjob.dlrover/rank-index", number},
                     {"elasticjob.dlrover/replica-index", number},
                     {"elasticjob.dlrover/replica-type", type}};
  return identity;
}

void expand_pytorch(const ManifestObject& object, Expansion& out, Shape& shape) {
  expand_replica_specs(object, "pytorchReplicaSpecs", training_identity, out, shape);
}

void expand_ascend(const ManifestObject& object, Expansion& out, Shape& shape) {
  expand_replica_specs(object, "replicaSpecs", ascend_identity, out, shape);
}

void expand_elastic(const ManifestObject& object, Expansion& out, Shape& shape) {
  out.note("ElasticJob " + object.name +
           ": its master pod is left out, it comes from DLRover and asks for no chips");
  expand_replica_specs(object, "replicaSpecs", elastic_identity, out, shape);
}

struct Controller {
  const char* group;  // of apiVersion; "" is the core group
  const char* kind;
  void (*expand)(const ManifestObject&, Expansion&, Shape&);
};

constexpr std::array kControllers{
    Controller{"", "Pod", expand_pod},
    Controller{"batch", "Job", expand_batch_job},
    Controller{"apps", "Deployment", expand_replicas},
    Controller{"apps", "ReplicaSet", expand_replicas},
    Controller{"apps", "StatefulSet", expand_replicas},
    Controller{"kubeflow.org", "PyTorchJob", expand_pytorch},
    Controller{"batch.volcano.sh", "Job", expand_volcano_job},
    Controller{"mindxdl.gitee.com", "AscendJob", expand_ascend},
    Controller{"elastic.iml.github.io", "ElasticJob", expand_elastic},
};

}  // namespace

bool expand_object(const ManifestObject& object, Expansion& out, Shape& shape) {
  const std::size_t slash = object.api_version.find('/');
  const std::string group =
      slash == std::string::npos ? std::string() : object.api_version.substr(0, slash);
  for (const Controller& controller : kControllers) {
    if (group != controller.group || object.kind != controller.kind) continue;
    controller.expand(object, out, shape);
    return true;
  }
  return false;
}

}  // namespace chipweave::codec
