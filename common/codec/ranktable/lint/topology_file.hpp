// RT109 — compares a 2.0 rank table with the topology file of its hosts: the peers and ports that
// it uses must exist there.
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/domain/ranktable/lint/finding.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::codec::ranktable {

// Error: the topology file is not JSON, lacks the lists, or has wrong counts.
Result<domain::ranktable::Findings> check_topology_file(const domain::ranktable::RankTable& table,
                                                        std::string topology);

}  // namespace chipweave::codec::ranktable
