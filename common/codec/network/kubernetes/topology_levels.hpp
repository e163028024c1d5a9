// The levels that an object of the cluster names by node labels: Topology of Kueue and of KAI,
// ClusterNetworkTopology of Koordinator.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/network/objects.hpp"
#include "common/codec/text/warnings.hpp"
#include "common/domain/network/label_families.hpp"

namespace chipweave::codec {

using domain::LabelLevel;

// Coarsest first. Errors name the object and the key.
Result<std::vector<LabelLevel>> kueue_levels(const NetworkObject& topology);  // KAI's too
Result<std::vector<LabelLevel>> koordinator_levels(const NetworkObject& topology,
                                                   Warnings& warnings);
// The JSON text of either, by its kind. Errors also: more than limits::kMaxNetworkLevels, a name
// that is bad or given twice.
Result<std::vector<LabelLevel>> read_topology_levels(std::string_view object);

}  // namespace chipweave::codec
