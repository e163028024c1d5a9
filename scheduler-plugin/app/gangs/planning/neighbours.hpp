// seat_beside_neighbours — which of the new places of a gang each rank gets, where some of its pods
// run already: one near the running pod before or after it on the ring of ranks, so that the ring
// goes on crossing few borders. The set of places stays.
#pragma once

#include <vector>

#include "common/solver/gang/fabric.hpp"
#include "scheduler-plugin/app/gangs/planning/gang_planner.hpp"
#include "scheduler-plugin/app/gangs/planning/nodes/slot_nodes.hpp"

namespace chipweave::sched {

// seats: by slot, those of slots that asked.seated has no seat for. Pods of one role or subgroup
// and size that may have the same nodes exchange their seats. Cost: O(slots + levels x seats x
// log(domains)).
void seat_beside_neighbours(const solver::Fabric& fabric, const NodeTable& nodes,
                            const GangToPlan& asked, const SlotNodes& may,
                            std::vector<GangSeat>& seats);

}  // namespace chipweave::sched
