// Which chips of a pod each of its containers gets.
#pragma once

#include <vector>

#include "scheduler-plugin/model/binding.hpp"
#include "scheduler-plugin/model/decision.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

// Divides the pod's chips: the containers that run together get disjoint sets, the largest first
// the fastest one of what is left. An init container uses chips that no sidecar has by then.
// Containers in the order of `requests`; empty if these need more chips than there are. Not exact:
// a different division may be faster for the smaller containers. O(containers) choices of the
// solver.
std::vector<ContainerChips> chips_of_containers(const std::vector<ContainerRequest>& requests,
                                                domain::ChipSet chips, const Node& node);

// The claim that hands a decision over. Absent if the pod's containers are not known.
std::optional<ClaimOrder> claim_order_of(const Decision& decision);

}  // namespace chipweave::sched
