// JobTable — the two tables that configmap1980 hands to the containers of a job:
// jobstart_hccl.json, a rank table of its machines, and ranktable_tor.json, the same by pod with
// the leaf switch of each device.
//
// Machines are in the order of their first pod's index, devices of a machine by id, ranks follow.
// A table that is made again keeps the rank of every device that is still there.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/modelarts/device_report.hpp"
#include "common/codec/modelarts/job_pods.hpp"

namespace chipweave::codec {

inline constexpr std::size_t kMaxTableDevices = 1'000'000;

struct TableServer {
  std::string pod_name;  // of ranktable_tor.json only
  std::string server_id;
  std::vector<RouteDevice> devices;
};

struct TableSuperPod {
  std::string id;
  std::vector<std::string> server_ids;
};

struct JobTable {
  bool completed = false;
  std::string version = "1.0";
  std::vector<TableServer> servers;
  std::vector<TableSuperPod> super_pods;  // of version 1.2 only
};

struct JobTableOptions {
  bool hyperjob = false;  // version 1.2, or an error that says what it needs
  bool switches = false;  // the job asked for topology
};

struct JobTables {
  JobTable ranks;  // jobstart_hccl.json: pods of one machine are one server
  JobTable tors;   // ranktable_tor.json: a server a pod, so that pods can be found by their names
};

// Version 1.2 if every device has a super_device_id and every pod a super pod, otherwise 1.0. While
// the job is not complete: the list of `previous`, or none, and status initializing.
//
// previous: null, or what a former call made. A device keeps its rank as long as there are more
// ranks than that; new ones take the smallest that is free, so ranks always are 0 to N - 1.
//
// Errors: two pods that report one device; with hyperjob, a device without super_device_id or a pod
// without super pod; more than kMaxTableDevices.
Result<JobTables> make_job_tables(const JobPods& job, const JobTableOptions& options,
                                  const JobTable* previous);

}  // namespace chipweave::codec
