// GangLayout — all pods of a gang, those that are still to come included, in the order of their
// ranks, and the planner's request for them. A function of the gang, its pods and the network.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/gang.hpp"
#include "common/domain/vendor_job.hpp"
#include "scheduler-plugin/app/gangs/planning/nodes/eligible_nodes.hpp"
#include "scheduler-plugin/state/cluster.hpp"
#include "scheduler-plugin/state/gang_table.hpp"
#include "scheduler-plugin/state/network/network.hpp"

namespace chipweave::sched {

// A place in the plan of a gang.
struct GangSlot {
  std::string role;
  std::optional<int> index;  // within the role; nullopt: any pod of the role
  int chips = 0;
  std::string uid;          // of its pod; empty: it has not come
  std::string spare;        // name of what the ledger holds for it until then; empty: nothing
  SharedWishes nodes = {};  // where its pod may run; of one that has not come: as its role's others
};

struct GangLayout {
  std::string resource;
  std::vector<GangSlot> slots;  // by rank
  domain::Gang request;         // its pods are the slots
  std::optional<domain::VendorJob> vendor;
  solver::Room needs;  // the most that any pod needs besides chips
};

// pods: its members that request chips; at least one. Pods without chips, of which there are so
// many, have no place in the plan.
// Of an elastic gang, pods that need not come have one only once they are there. Errors: those of
// gang_of(); invalid_argument: the pods request different kinds of chips.
Result<GangLayout> lay_out(const Gang& gang, std::vector<const ClusterPod*> pods, int chipless,
                           const Network& network);

// The slots of a new layout, where pods that had one keep their rank within their role, unless
// their framework numbers them.
std::vector<GangSlot> with_former_ranks(const std::vector<GangSlot>& former,
                                        std::vector<GangSlot> slots);

}  // namespace chipweave::sched
