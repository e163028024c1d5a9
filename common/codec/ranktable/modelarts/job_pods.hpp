// JobPods — the NPU pods of one Volcano job by index, read from `kubectl get pods -o json` and
// `kubectl get nodes -o json`.
//
// Pods of other jobs (if one is chosen) and pods without NPUs are skipped. A job that is still
// starting is not an error: pods may lack a node or a device report, and indexes may lack a pod.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/ranktable/modelarts/device_report.hpp"

namespace chipweave::codec {

// Pods request topology with annotation `cabinet` and this value.
inline constexpr std::string_view kCabinet = "cabinet";
// Where Volcano writes the index of a pod in its task.
inline constexpr std::string_view kTaskIndex = "volcano.sh/task-index";
// Annotations with the super pod of a pod; a negative number is none. The first that is there.
inline constexpr std::array<std::string_view, 3> kSuperPodAnnotations{
    "super-pod-id", "super_pod_id", "super-pod-rank"};
inline constexpr std::size_t kMaxPodIndex = 100'000;

struct JobPod {
  std::string name;
  std::size_t index = 0;  // in its task
  std::string node;       // empty: not scheduled yet
  std::string host_ip;
  std::string super_pod;  // empty: not known
  bool cabinet = false;
  std::optional<DeviceReport> report;
  // Whether every reported device has an address, as a table needs.
  bool ready() const;
};

struct JobPods {
  std::string ns;
  std::string job;
  std::string task;
  std::vector<JobPod> pods;          // by index
  std::vector<std::size_t> missing;  // indexes without a pod
  bool cabinet = false;              // all of them request topology
  std::vector<std::string> warnings;

  // Whether every NPU pod exists and is ready.
  bool complete() const;
};

struct JobPodsChoice {
  std::string job;           // NAME or NAMESPACE/NAME; empty: the only one
  std::string task;          // empty: the only one with NPUs
  std::size_t replicas = 0;  // pods of the task; 0: highest index + 1
};

struct RouteNode {
  std::string name;
  std::vector<std::string> addresses;
  std::optional<DeviceReport> report;  // annotation kAscendRankTable
};

struct RouteNodes {
  std::vector<RouteNode> nodes;
  std::vector<std::string> warnings;
};

// stated: of kTaskIndex; empty: the number at the end of the pod's name. Errors: not below
// kMaxPodIndex, or no number.
Result<std::size_t> index_of_pod(std::string_view stated, std::string_view name);

// Errors: neither JSON nor YAML, no NPU pod of a job, several jobs or tasks without a choice (names
// the flag), an index that is repeated or not below `replicas`, a wrong report.
Result<JobPods> read_job_pods(std::string_view text, const JobPodsChoice& choice);

// A node annotation that cannot be read is skipped with a warning.
Result<RouteNodes> read_route_nodes(std::string_view text);

// Adds switches that pods did not report, from the annotations of their nodes.
void add_node_switches(JobPods& job, const RouteNodes& nodes);
// The same from a network. leaves: for each pod in order; "" if not known.
void add_leaf_switches(JobPods& job, const std::vector<std::string>& leaves);

}  // namespace chipweave::codec
