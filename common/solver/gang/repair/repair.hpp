// repair_gang — replans a running gang some of whose nodes failed: only the pods on those nodes
// move; all others keep their nodes and ranks. The moved pods take the vacant ranks, each as close
// as possible to where its rank was, and keep their numbers, so that each stays in its set, with
// its chips and its allowed nodes.
//
// A moved pod stays inside
// - the innermost slice domain (of the gang's slices and its role's) that lost it and has a usable
//   node left; slices that lost their whole domain are placed whole;
// - the domain of each required level of the gang, its set, the sets around it and the roles that
//   are planned with it, while other pods of these run there or the domain has a usable node.
// Pods of slices are all placed or none.
#pragma once

#include <string>
#include <vector>

#include "common/domain/gang.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

// Exact where place_uniform() is and the moved pods do not compete, else within the limits of
// ExactSets; beyond them one kind of pods after another. Cost: that of place_uniform() for each
// kind of moved pods, or of ExactSets.
domain::Plan repair_gang(const Fabric& fabric, const std::vector<std::string>& level_names,
                         const domain::Gang& gang);

}  // namespace chipweave::solver
