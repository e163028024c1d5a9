// Pods of jobs for tests of tables that are made of them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "common/domain/ranktable/assembly/member.hpp"
#include "common/domain/ranktable/lint/lint.hpp"

namespace chipweave::domain::ranktable::test {

// Pod w-RANK on host 10.1.0.HOST, with addresses of its devices that are 192.0.HOST.DEVICE.
inline Member member(int rank, int host, std::initializer_list<std::int64_t> devices) {
  Member out;
  out.pod = "w-" + std::to_string(rank);
  out.uid = "uid-" + std::to_string(rank);
  out.host_ip = "10.1.0." + std::to_string(host);
  out.pod_ip = "10.244.0." + std::to_string(rank + 1);
  for (const std::int64_t device : devices) {
    out.devices.push_back(
        {device, "192.0." + std::to_string(host) + "." + std::to_string(device + 1), {}, {}, {}});
  }
  return out;
}

inline std::vector<std::string> errors_of(const RankTable& table, Profile profile) {
  std::vector<std::string> out;
  for (const Finding& finding : lint(table, profile)) {
    if (finding.severity == Severity::error)
      out.push_back(std::string(finding.code) + ": " + finding.message);
  }
  return out;
}

}  // namespace chipweave::domain::ranktable::test
