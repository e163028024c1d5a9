// AscendFamily — the generation of an Ascend machine, on which the names of chips, of extended
// resources and of what MindCluster publishes depend.
#pragma once

#include <string>
#include <string_view>

#include "common/domain/node_topology.hpp"

namespace chipweave::domain {

enum class AscendFamily { a1, a2, a3, ascend_310, ascend_310p, a5 };

// By placement rule, then model; a2 for unknown chips, which has no super-pod and all keys.
AscendFamily ascend_family_of(const NodeTopology& topology);
// Prefix of chip names, and of resource names after "huawei.com/": "Ascend910", "Ascend310P",
// "npu".
std::string_view ascend_prefix(AscendFamily generation);

// The id of a chip whose physical id is not known, by its place (PCI address, card): it cannot be
// mistaken for a MindCluster name ("Ascend910-3").
inline constexpr std::string_view kIdByPlace = "npu-at-";
inline std::string chip_id_by_place(const std::string& place) {
  return std::string(kIdByPlace) + place;
}
inline bool is_id_by_place(std::string_view id) { return id.starts_with(kIdByPlace); }

}  // namespace chipweave::domain
