// make_job_table — the rank table of one job (hccl.json), from its pods.
//
// Ranks follow the pods, and in a pod its devices. Sources: the guide of HCCL for rank tables 1.0,
// 1.2 and 2.0; what is never "completed" there is what Ascend's operator refuses, too.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/ranktable/assembly/member.hpp"

namespace chipweave::domain::ranktable {

// HCCL takes two servers of one name for one machine, whose devices may use the links inside of it.
enum class ServerNames {
  host_ip,  // pods on one machine are one server
  pod_uid   // each pod is a server
};

struct JobTableForm {
  Dialect dialect = Dialect::hccl_1_0;  // or 1.2, 2.0
  ServerNames names = ServerNames::host_ip;
  // 1.2: pods of a logical super pod, counted by rank; 0: the super pods of the machines.
  std::int64_t pods_of_super_pod = 0;
  // 2.0: ROCE or UBOE; empty: the first of ROCE, UBOE and UBG that a device has.
  std::string scale_out{};
};

struct JobTable {
  RankTable table;  // of status completed; without servers while something is missing
  std::vector<std::string>
      missing;  // for people: "pod w-1: its devices"; empty: the table is complete
};

// members: by rank; nullopt: the pod has not come. Cost: O(devices log devices).
// Errors: conflict: two pods have one device, or one address is that of two devices.
// invalid_argument: no members, or another dialect.
Result<JobTable> make_job_table(std::span<const std::optional<Member>> members,
                                const JobTableForm& form);

}  // namespace chipweave::domain::ranktable
