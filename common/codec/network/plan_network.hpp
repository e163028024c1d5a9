// Networks as planners take them: any description that import_network() reads, and chipweave's own
// JSON with what nodes have free.
//
// Planners know one hierarchy. Where a description has only that of the accelerators' interconnect,
// that one is used, with a warning. A description without any is an error.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_writer.hpp"
#include "common/base/result.hpp"
#include "common/codec/json/json_value.hpp"
#include "common/codec/network/import.hpp"

namespace chipweave::codec {

// With at least one level.
Result<ImportedNetwork> import_levelled_network(std::string_view content,
                                                const NetworkImportOptions& options);

struct PlanNetwork {
  std::string json;  // what the key `network` of a plan request holds
  std::vector<std::string> warnings;
  std::set<std::string, std::less<>> with_free;  // nodes that have the given `free`
};

// free: chips of each node whose free chips the description does not give. Without it such nodes
// have 0, and a description that gives none at all is an error that names --free. The values of
// chipweave's own JSON are checked by parse_plan_line(), not here.
Result<PlanNetwork> plan_network(std::string_view content, const NetworkImportOptions& options,
                                 std::optional<std::int64_t> free);

// The network with other nodes: `write` writes what becomes of each, `append` may add more; the
// other keys stay.
std::string with_nodes(JsonValue network, const std::function<void(JsonWriter&, JsonValue)>& write,
                       const std::function<void(JsonWriter&)>& append = {});

}  // namespace chipweave::codec
