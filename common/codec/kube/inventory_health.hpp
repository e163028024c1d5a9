// The part of a NodeInventory's status that says how well the node is: faults, conditions,
// neighbours, facts. Internal to common/codec/kube but for reading faults back.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/json_writer.hpp"
#include "common/base/result.hpp"
#include "common/codec/kube/inventory.hpp"
#include "common/domain/fault.hpp"

namespace chipweave::codec {

inline constexpr std::size_t kMostFaultsTold = 256;  // the worst ones, which come first
inline constexpr std::size_t kMostNeighboursTold = 256;
inline constexpr std::size_t kMostFactsTold = 256;
inline constexpr std::size_t kMostFaultTextBytes = 256;

// The keys nodeBootId, faults, conditions, neighbours and facts, where there is anything to say.
void write_inventory_health(JsonWriter& w, const NodeInventory& inventory);

// The faults of an object whose status has this nodeBootId; none of any other boot of the node, and
// none where there is no status. Errors name the key.
Result<std::vector<domain::RememberedFault>> read_object_faults(std::string_view object,
                                                                std::string_view node_boot_id);

}  // namespace chipweave::codec
