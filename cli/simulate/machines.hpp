// Machines of a trace — which of our node topologies stands for a model of chips that a trace
// names.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/trace.hpp"
#include "common/solver/simulate/cluster/model_cluster.hpp"

namespace chipweave::cli {

// Models with a built-in profile: {"V100M16", "hgx-v100-8"}. All others are plain PCIe machines.
const std::map<std::string_view, std::string_view>& default_machines();
// Names a plain PCIe machine in --machines.
inline constexpr std::string_view kPlainMachine = "pcie";

// The nodes of a trace with their machines. overrides: MODEL=PROFILE, a profile or topology file,
// or "pcie". A machine with more chips than the node is cut to its first ones. Errors:
// invalid_argument or those of io::load_machine, in --machines.
Result<std::vector<simulate::ModelNode>> model_nodes(const std::vector<domain::TraceNode>& nodes,
                                                     const std::vector<std::string>& overrides);

}  // namespace chipweave::cli
