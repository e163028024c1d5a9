// MachineFacts — what a host says about its devices, and where a rank table says otherwise.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/ip_address.hpp"
#include "common/domain/ranktable/lint/finding.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::domain::ranktable {

struct DeviceFacts {
  std::string address;     // "": the host does not know
  std::string netmask;     // "": not known; a mask or a prefix length
  std::optional<bool> up;  // link of the port
  std::string health;      // "Success", or what is wrong; "": not asked
};

// Of one host, by physical device id.
struct MachineFacts {
  std::string source;  // "/etc/hccn.conf", "hccn_tool": for messages
  std::map<int, DeviceFacts> devices;
};
// By server_id.
using FactsByServer = std::map<std::string, MachineFacts>;

// RT081 where addresses differ, a link is down or a port is not healthy; RT046 where the devices of
// one id on several hosts are in different subnets. Servers and devices that nothing is known of
// are passed over.
Findings lint_against_machines(const RankTable& table, const FactsByServer& facts);

}  // namespace chipweave::domain::ranktable
