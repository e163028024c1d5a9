// JobPods — the NPU pods of one Volcano job, in the order of their indexes, as `kubectl get pods -o
// json` and `kubectl get nodes -o json` tell them.
//
// A list may hold more than the job: pods of other jobs when one is chosen, and pods that use no
// NPU, are passed over. What is missing while a job starts is no error: a pod without a node or a
// report of its devices, an index nobody has.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/ranktable/modelarts/device_report.hpp"

namespace chipweave::codec {

// The switch by which pods ask for topology: annotation `cabinet` with this value.
inline constexpr std::string_view kCabinet = "cabinet";

struct JobPod {
  std::string name;
  std::size_t index = 0;  // in its task
  std::string node;       // empty: it has no place yet
  std::string host_ip;
  std::string super_pod;  // empty: not known
  bool cabinet = false;
  std::optional<DeviceReport> report;
  // Whether every device of the report has an address: what a table needs.
  bool ready() const;
};

struct JobPods {
  std::string ns;
  std::string job;
  std::string task;
  std::vector<JobPod> pods;          // by index
  std::vector<std::size_t> missing;  // indexes that no pod has
  bool cabinet = false;              // all of them ask for topology
  std::vector<std::string> warnings;

  // Every NPU pod is there with its devices.
  bool complete() const;
};

struct JobPodsChoice {
  std::string job;           // NAME or NAMESPACE/NAME; empty: the only one
  std::string task;          // empty: the only one with NPUs
  std::size_t replicas = 0;  // pods that the task has; 0: as many as its highest index says
};

// What is read of a node.
struct RouteNode {
  std::string name;
  std::vector<std::string> addresses;
  std::optional<DeviceReport> report;  // annotation kAscendRankTable
};

struct RouteNodes {
  std::vector<RouteNode> nodes;
  std::vector<std::string> warnings;
};

// Errors: neither JSON nor YAML, no NPU pod of a job, several jobs or tasks without a choice (the
// flag is named), an index used twice or above `replicas`, a report that is wrong.
Result<JobPods> read_job_pods(std::string_view text, const JobPodsChoice& choice);

// Nodes whose annotation cannot be read lose it with a warning.
Result<RouteNodes> read_route_nodes(std::string_view text);

// Switches of devices that pods did not report, from the annotations of their nodes.
void add_node_switches(JobPods& job, const RouteNodes& nodes);
// The same from a network: the leaf of each pod, in their order; "" where it is not known.
void add_leaf_switches(JobPods& job, const std::vector<std::string>& leaves);

}  // namespace chipweave::codec
