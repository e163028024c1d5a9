// RT109 — a 2.0 rank table against the topology file of its hosts: peers and ports that it uses
// must exist there.
#pragma once

#include <string>

#include "common/base/result.hpp"
#include "common/domain/ranktable/lint/finding.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::codec::ranktable {

// The Error is about the topology file: no JSON, no such lists, counts that are wrong.
Result<domain::ranktable::Findings> check_topology_file(const domain::ranktable::RankTable& table,
                                                        std::string topology);

}  // namespace chipweave::codec::ranktable
