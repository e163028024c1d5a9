// What hosts report about the devices of a rank table: /etc/hccn.conf of some servers, and
// hccn_tool on this machine.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/ranktable/lint/machine_facts.hpp"

namespace chipweave::cli {

struct MachineFlags {
  std::vector<std::string> hccn_conf;  // "SERVER=FILE", or "FILE" of the only server
  std::string live;                    // the server that this machine is
  std::string hccn_tool;
};

// Errors name the flag, or the file.
Result<domain::ranktable::FactsByServer> read_machine_facts(
    const MachineFlags& flags, const domain::ranktable::RankTable& table);

}  // namespace chipweave::cli
