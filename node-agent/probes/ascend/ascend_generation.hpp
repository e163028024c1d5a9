// AscendGeneration — the server family of an NPU, and what follows from it alone.
//
// The name of a chip does not distinguish A2 from A3 ("Ascend910" on both): two dies on a card, or
// a place in a super pod, make it an A3.
#pragma once

#include <string_view>

#include "common/domain/node_topology.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_snapshot.hpp"

namespace chipweave::agent {

enum class AscendGeneration { unknown, a910, a2, a3, i310, i310p, a5 };

AscendGeneration generation_of(const DcmiSnapshot& snapshot);

// "910A", "A2", "A3", "310", "310P", "A5"; "" for unknown.
std::string_view to_string(AscendGeneration generation);
// As the built-in profiles call the chip: "Ascend910B"; "" for unknown.
std::string_view model_of(AscendGeneration generation);
// What MindCluster puts before a chip's number: "Ascend910", "Ascend310P", "npu"; "" for unknown.
std::string_view chip_prefix(AscendGeneration generation);
// The first half of MindCluster's label servertype: "Ascend910B"; "" if MindCluster does not define
// it.
std::string_view card_type(AscendGeneration generation);
// Value of MindCluster's annotation serverType: "A3", "npu", else "".
std::string_view server_type(AscendGeneration generation);
// Whether DCMI's state of HCCS links is documented for it (for 910A it is not).
bool tells_hccs(AscendGeneration generation);
// Whether its chips have their own RoCE ports, which hccn_tool addresses by physical id.
bool has_roce(AscendGeneration generation);
// As in its built-in profiles; nullopt for unknown.
std::optional<domain::HostBandwidth> host_bandwidth_of(AscendGeneration generation);

}  // namespace chipweave::agent
