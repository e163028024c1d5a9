// The two tables that configmap1980 hands to the containers of a job: jobstart_hccl.json, a rank
// table of its machines, and ranktable_tor.json, the same by pod with the leaf switch of each
// device.
//
// Machines are in the order of their first pod's index, devices of a machine by id, ranks follow.
// A table that is made again keeps the rank of every device that is still there.
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
  bool hyperjob = false;  // version 1.2, or an error that says what it needs
  bool switches = false;  // the job asked for topology
};

// Of dialect modelarts_1980, one group; the switch of a device is among its extras.
struct JobTables {
  domain::ranktable::RankTable ranks;  // jobstart_hccl.json: pods of one machine are one server
  domain::ranktable::RankTable tors;   // ranktable_tor.json: a server a pod, so that pods can be
                                       // found by their names
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
                                  const domain::ranktable::RankTable* previous);

bool is_completed(const domain::ranktable::RankTable& table);

// Either table as text. Errors: no rank table of a server_list, a status that is neither completed
// nor initializing, a completed table without servers.
Result<domain::ranktable::RankTable> read_job_table(std::string_view text);

}  // namespace chipweave::codec
