// KubePod — the parts of a Kubernetes Pod object that placement reads, and how Kubernetes counts a
// resource that it requests.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/claims_of_pod.hpp"
#include "common/domain/node_selection.hpp"

namespace chipweave::codec {

using StringMap = std::map<std::string, std::string, std::less<>>;

struct KubeContainer {
  std::string name;
  bool sidecar =
      false;  // an init container with restartPolicy Always: it keeps running alongside the others
  StringMap requests;  // resource name → quantity as written
  StringMap limits;
};

struct KubePod {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  std::string node_name;
  std::string scheduler;  // spec.schedulerName
  std::string phase;
  std::string nominated_node;  // status.nominatedNodeName
  std::string hostname;        // spec.hostname
  std::string subdomain;       // spec.subdomain
  std::string host_ip;         // status.hostIP
  std::string pod_ip;          // status.podIP
  // Reason and message of its condition PodScheduled, if that is False.
  std::string rejection;
  bool ending = false;       // deleted, with its grace period running
  std::int64_t created = 0;  // metadata.creationTimestamp, seconds since 1970; 0: not known
  int priority = 0;          // spec.priority
  bool may_preempt = true;   // spec.preemptionPolicy is not Never
  // Kubernetes' own gang, in this namespace: the PodGroup of spec.schedulingGroup (1.36), or what
  // spec.workloadRef names (1.35), "workload/group/replica". Empty: none.
  std::string gang;
  std::vector<std::string> gates;  // names of spec.schedulingGates
  StringMap labels;
  StringMap annotations;
  std::vector<KubeContainer> init_containers;
  std::vector<KubeContainer> containers;
  StringMap overhead;  // spec.overhead, of its RuntimeClass
  StringMap requests;  // spec.resources.requests, in place of the containers'
  std::shared_ptr<const ClaimsOfPod> claims;        // null: it names none
  std::shared_ptr<const domain::NodeWishes> nodes;  // where it may run; null: it does not say
};

// A Kubernetes quantity that must be a whole number: "8", "2k", "2000m", "1e1". Errors: malformed,
// negative, fractional ("500m"), above limits::kMaxQuantity.
Result<std::int64_t> parse_whole_quantity(std::string_view text);

// "vendor.com/gpu", not cpu, memory, hugepages-* or kubernetes.io/batch-cpu.
bool is_extended_resource(std::string_view name);

// Names of all resources that a container of the pod requests or limits, each once, ascending.
std::vector<std::string> resource_names(const KubePod& pod);

// What the pod requests of `resource` as the scheduler counts it: the larger of (containers +
// sidecars) and the largest init container with the sidecars started before it; a limit replaces a
// missing request.
Result<std::int64_t> count_resource(const KubePod& pod, std::string_view resource);

// What each container requests of `resource`, in the order in which they start: init containers,
// sidecars among them, then the others; those that request none are left out. Precondition:
// count_resource() succeeds.
struct ContainerCount {
  std::string_view container;  // valid as long as the pod
  std::int64_t count = 0;
  bool init = false;  // it ends before the others start
};
std::vector<ContainerCount> count_by_container(const KubePod& pod, std::string_view resource);

// The same of any resource, with the pod's overhead and what the pod as a whole requests, in units
// of 10^-decimals, rounded up; texts that are not quantities count as 0. For estimates: very large
// amounts are cut off.
std::int64_t amount_of_resource(const KubePod& pod, std::string_view resource, int decimals);

// A quantity in units of 10^-decimals, rounded up; 0 if the text is none. Very large ones are cut
// off.
std::int64_t amount_of(std::string_view quantity, int decimals);

// One Pod document, e.g. the body of POST /standalone/pods. resource_version, ending, created,
// priority, gang, nominated_node, hostname, subdomain, host_ip, pod_ip, rejection, claims and nodes
// stay empty, since there is no API server, scheduler or DNS to act on them. A field of a wrong
// type is an error that names it.
Result<KubePod> read_pod(std::string_view json);

// What a document gets after it was posted.
struct PodChanges {
  std::string ns;
  std::string uid;
  std::string node;                                // empty: not bound
  std::map<std::string, std::string> annotations;  // beside its own
  std::string without_gate;                        // name; empty: it keeps all
  std::string pin_to;                              // nodes/node_pin.hpp; empty: to no node
};
// The same document in canonical form with these changes.
Result<std::string> write_pod(std::string_view json, const PodChanges& changes);

}  // namespace chipweave::codec
