// Repair — a running gang some of whose nodes failed: only the pods that were there get new nodes,
// inside the innermost slice domain that lost them; all others stay, with their ranks, and the new
// ones take the ranks that came free, each as near as can be to where its rank was.
#pragma once

#include <string>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

domain::Plan repair_gang(const Fabric& fabric, const std::vector<std::string>& level_names,
                         const domain::Gang& gang);

}  // namespace chipweave::solver
