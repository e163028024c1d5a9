// MachineFacts — what a host reports about its devices, compared with a rank table.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/ip_address.hpp"
#include "common/domain/ranktable/lint/finding.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::domain::ranktable {

struct DeviceFacts {
  std::string address;     // "": not known
  std::string netmask;     // "": not known; a mask or a prefix length
  std::optional<bool> up;  // link of the port
  std::string health;      // "Success", or what is wrong; "": not known
};

// The facts of one host, by physical device id.
struct MachineFacts {
  std::string source;  // "/etc/hccn.conf", "hccn_tool": for messages
  std::map<int, DeviceFacts> devices;
};
// By server_id.
using FactsByServer = std::map<std::string, MachineFacts>;

// RT081 if addresses differ, a link is down or a port is unhealthy; RT046 if devices with the same
// id on several hosts are in different subnets. Servers and devices without facts are skipped.
Findings lint_against_machines(const RankTable& table, const FactsByServer& facts);

}  // namespace chipweave::domain::ranktable
