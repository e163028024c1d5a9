// The two tables that configmap1980 mounts into the containers of a job: jobstart_hccl.json, the
// rank table by machine, and ranktable_tor.json, by pod with the leaf switch of each device.
//
// Machines are in the order of their first pod's index, devices by id, and ranks follow that order.
// When a table is made again, devices that are still present keep their ranks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/codec/ranktable/modelarts/job_pods.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::codec {

inline constexpr std::string_view kJobStartFile = "jobstart_hccl.json";
inline constexpr std::string_view kTorFile = "ranktable_tor.json";
inline constexpr std::size_t kMaxTableDevices = 1'000'000;

struct JobTableOptions {
  bool hyperjob = false;  // require version 1.2
  bool switches = false;  // the job requests topology
};

// Two tables of dialect modelarts_1980 with one group; the switch of a device is among its extras.
struct JobTables {
  domain::ranktable::RankTable ranks;  // jobstart_hccl.json: one server for each machine
  domain::ranktable::RankTable tors;   // ranktable_tor.json: one server for each pod
};

// Version 1.2 if every device has a super_device_id and every pod a super pod, else 1.0. While the
// job is incomplete, status is initializing and the servers are those of `previous`, or none.
//
// previous: null, or the result of an earlier call. A device keeps its rank while that is below the
// number of ranks; new ones take the smallest free rank, so ranks are always 0 to N - 1.
//
// Errors: two pods that report the same device; with hyperjob, a device without super_device_id or
// a pod without super pod; more than kMaxTableDevices.
Result<JobTables> make_job_tables(const JobPods& job, const JobTableOptions& options,
                                  const domain::ranktable::RankTable* previous);

bool is_completed(const domain::ranktable::RankTable& table);

// Reads either table. Errors: not a table with a server_list, a status that is neither completed
// nor initializing, a completed table without servers.
Result<domain::ranktable::RankTable> read_job_table(std::string_view text);

}  // namespace chipweave::codec
