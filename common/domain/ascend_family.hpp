// AscendFamily — the generation of an Ascend machine as far as names depend on it: of its chips, of
// the resources they are counted as, of what MindCluster publishes.
#pragma once

#include <string_view>

#include "common/domain/node_topology.hpp"

namespace chipweave::domain {

enum class AscendFamily { a1, a2, a3, ascend_310, ascend_310p, a5 };

// By model and placement rule; of a chip that is not known: a2, which has no SuperPod and all keys.
AscendFamily ascend_family_of(const NodeTopology& topology);
// Of the names of chips, and of resources behind "huawei.com/": "Ascend910", "Ascend310P", "npu".
std::string_view ascend_prefix(AscendFamily generation);

}  // namespace chipweave::domain
