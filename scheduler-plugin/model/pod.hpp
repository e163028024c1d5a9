// PodRequest — what a pod requests: its name, its chips, and the pods it belongs with.
#pragma once

#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/objective.hpp"
#include "common/solver/nodes/room.hpp"

namespace chipweave::sched {

struct GangMark;

struct PodKey {
  std::string ns;
  std::string name;
  std::string text() const { return ns + "/" + name; }
  friend auto operator<=>(const PodKey&, const PodKey&) = default;
};

// Pods of one job that want to be placed together (ACK labels gpu-topology, gpu-topology-replica).
struct GroupRef {
  std::string name;  // unique within the namespace
  int replicas = 1;
};

// A container that requests chips.
struct ContainerRequest {
  std::string name;
  int chips = 0;
  bool init = false;  // it ends before the others start, which use its chips then

  friend bool operator==(const ContainerRequest&, const ContainerRequest&) = default;
};

// What a pod requests, as Kubernetes counts it (the larger of the largest init container and the
// sum of the other containers).
struct PodRequest {
  PodKey key;
  std::string uid;
  std::string resource;  // "nvidia.com/gpu"; empty: no accelerator
  int chips = 0;
  // Who of it gets how many, in the order in which they start. Empty: not known.
  std::vector<ContainerRequest> containers;
  bool distributed = false;  // one of several pods of a job with accelerators
  std::optional<GroupRef> group;
  solver::Room needs;     // CPU and memory
  double needs_gbps = 0;  // declared; the pod gains nothing from more; 0: none
  domain::Objective objective = domain::Objective::bandwidth;  // what its chips are chosen for
  std::string job;                                             // its job identity, if already known
  // kube-scheduler's own PodGroup, "namespace/name": it tries all members before it binds one.
  // Empty: none.
  std::string gang;
  std::shared_ptr<const GangMark> mark;  // null: it names no gang, or this was not read
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
};

// Sets needs_gbps and objective as the pod's annotations say. Returns why one of them is wrong;
// empty: none is.
std::string read_wishes(PodRequest& pod);
// Whether the pod is one of several of a group.
bool is_member(const PodRequest& pod);
// "namespace/name" of its group. Precondition: it has one.
std::string group_id(const PodRequest& pod);
// Which pods belong to one job, from the labels that job controllers set; "" if the pod carries no
// such label and is in no gang. Never equal for pods of two namespaces.
std::string job_identity(const PodRequest& pod);
// The job for people: the value of its label (with "/" and that of the inner one), or what another
// scheduler calls the gang; "": no job.
std::string job_name(const PodRequest& pod);

}  // namespace chipweave::sched
