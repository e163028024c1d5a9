// repair_gang — replans a running gang some of whose nodes failed: only the pods on those nodes
// move, within the innermost slice domain that lost them and has a usable node left; slices that
// lost their domain are placed whole. All others keep their nodes and ranks; the moved pods take
// the vacant ranks, each as close as possible to where its rank was.
#pragma once

#include <string>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

domain::Plan repair_gang(const Fabric& fabric, const std::vector<std::string>& level_names,
                         const domain::Gang& gang);

}  // namespace chipweave::solver
