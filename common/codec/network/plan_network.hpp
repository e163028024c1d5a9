// Networks as planners take them: any description that import_network() reads, and chipweave's own
// JSON with what nodes have free.
//
// Planners know one hierarchy. A description that has only that of the accelerators' interconnect
// is taken by that one, with a warning; one that has none is an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/network/import.hpp"

namespace chipweave::codec {

// With at least one level.
Result<ImportedNetwork> import_levelled_network(std::string_view content,
                                                const NetworkImportOptions& options);

struct PlanNetwork {
  std::string json;  // what the key `network` of a plan request holds
  std::vector<std::string> warnings;
};

// free: chips of each node that the description says no free chips of. Without it such nodes have
// none, and a description in which no node has any is an error that names --free. What the keys of
// chipweave's own JSON hold is not looked at: parse_plan_line() does that, and names the key.
Result<PlanNetwork> plan_network(std::string_view content, const NetworkImportOptions& options,
                                 std::optional<std::int64_t> free);

}  // namespace chipweave::codec
