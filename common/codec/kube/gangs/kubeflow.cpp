// Kubeflow: jobs of the training operator (kubeflow.org/v1), and TrainJob
// (trainer.kubeflow.org/v1alpha1).
#include "common/codec/kube/gangs/gang_reading.hpp"

namespace chipweave::codec {
namespace {

domain::GangSpec& read_job(const KubeGangObject& object, GangReading& reading, const char* key) {
  domain::GangSpec& to = reading.declare("trainer", object.name);
  read_replica_specs(reading, key, to);
  read_run_policy(reading, to);
  if (to.minimum && to.size && *to.minimum > *to.size)
    reading.spec().problem("runPolicy.schedulingPolicy.minAvailable",
                           "is more than all replicas, " + std::to_string(*to.size));
  return to;
}

// Elastic workers of PyTorch and PaddlePaddle: fewer may start than there are replicas.
void read_elastic_policy(GangReading& reading, domain::GangSpec& to) {
  const auto elastic = reading.part(reading.spec(), "elasticPolicy");
  if (!elastic) return;
  const auto least = pods_of(*elastic, "minReplicas");
  if (!least) return;
  int all = 0;
  for (domain::RoleSpec& role : to.roles) {
    if (role.name == "worker" && *least > *role.pods)
      elastic->problem("minReplicas", "is more than the workers, " + std::to_string(*role.pods));
    else if (role.name == "worker")
      role.minimum = *least;
    all += role.minimum.value_or(*role.pods);
  }
  if (!to.minimum) to.minimum = all;
}

}  // namespace

void read_pytorch_job(const KubeGangObject& object, GangReading& reading) {
  read_elastic_policy(reading, read_job(object, reading, "pytorchReplicaSpecs"));
}
void read_tf_job(const KubeGangObject& object, GangReading& reading) {
  read_job(object, reading, "tfReplicaSpecs");
}
void read_mpi_job(const KubeGangObject& object, GangReading& reading) {
  domain::GangSpec& to = read_job(object, reading, "mpiReplicaSpecs");
  to.sequential = reading.spec().text_or_empty("launcherCreationPolicy") == "WaitForWorkersReady";
}
void read_paddle_job(const KubeGangObject& object, GangReading& reading) {
  read_elastic_policy(reading, read_job(object, reading, "paddleReplicaSpecs"));
}
void read_xgboost_job(const KubeGangObject& object, GangReading& reading) {
  read_job(object, reading, "xgbReplicaSpecs");
}
void read_jax_job(const KubeGangObject& object, GangReading& reading) {
  read_job(object, reading, "jaxReplicaSpecs");
}

// Its pods are those of a JobSet of the same name, whose other Jobs a runtime adds that is not read
// here: the trainer's nodes are only a part of the gang.
void read_train_job(const KubeGangObject& object, GangReading& reading) {
  domain::GangSpec& to = reading.declare("jobset", object.name);
  const auto trainer = reading.part(reading.spec(), "trainer");
  const auto nodes = trainer ? pods_of(*trainer, "numNodes", 1) : std::nullopt;
  if (!nodes) return;
  domain::RoleSpec role;
  role.name = "node/0";
  role.pods = nodes;
  to.roles.push_back(std::move(role));
}

}  // namespace chipweave::codec
