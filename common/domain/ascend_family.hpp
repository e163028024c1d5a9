// AscendFamily — the generation of an Ascend machine, on which the names of chips, of extended
// resources and of what MindCluster publishes depend.
#pragma once

#include <string_view>

#include "common/domain/node_topology.hpp"

namespace chipweave::domain {

enum class AscendFamily { a1, a2, a3, ascend_310, ascend_310p, a5 };

// By placement rule, then model; a2 for unknown chips, which has no super-pod and all keys.
AscendFamily ascend_family_of(const NodeTopology& topology);
// Prefix of chip names, and of resource names after "huawei.com/": "Ascend910", "Ascend310P",
// "npu".
std::string_view ascend_prefix(AscendFamily generation);

}  // namespace chipweave::domain
