// What tables require of the pods of a job.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/ranktable/assembly/member.hpp"

namespace chipweave::domain::ranktable {

struct MemberNeeds {
  bool devices = true;
  bool addresses = false;  // of devices: they talk by their NICs
  bool super_pods = false;
  bool layers = false;  // HCCL 2.0; then no other address counts
};

// Adds what is not known of the pod, for people: "pod w-1: its devices". An address that is there
// must be one, also where it is not required.
void add_missing(const Member& member, const MemberNeeds& needs, std::vector<std::string>& to);

// That each device belongs to one pod, and each address to one device. Cost: O(devices log
// devices). Errors: conflict.
Result<void> check_distinct(std::span<const Member* const> members);

}  // namespace chipweave::domain::ranktable
