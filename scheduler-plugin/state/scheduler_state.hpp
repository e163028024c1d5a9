// SchedulerState — what the use cases share: nodes, records of pods, who holds which chips, jobs,
// and what typical pods ask for.
// Owner: the loop thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "common/solver/nodes/demand_estimate.hpp"
#include "scheduler-plugin/state/gang_table.hpp"
#include "scheduler-plugin/state/jobs.hpp"
#include "scheduler-plugin/state/ledger.hpp"
#include "scheduler-plugin/state/network/network.hpp"
#include "scheduler-plugin/state/node_rooms.hpp"
#include "scheduler-plugin/state/node_standings.hpp"
#include "scheduler-plugin/state/node_table.hpp"
#include "scheduler-plugin/state/pod_record.hpp"

namespace chipweave::sched {

// What has to change before a plan that did not fit is made again, beside the gang and what is
// offered for it.
struct RoomVersion {
  std::uint64_t released = 0;   // Ledger::released()
  std::uint64_t gains = 0;      // NodeTable::gains()
  std::uint64_t network = 0;    // Network::version()
  std::uint64_t standings = 0;  // NodeStandings::version()
  friend bool operator==(const RoomVersion&, const RoomVersion&) = default;
};

struct SchedulerState {
  SchedulerState() = default;
  SchedulerState(const SchedulerState&) = delete;
  SchedulerState& operator=(const SchedulerState&) = delete;

  NodeTable nodes;
  NodeRooms rooms{nodes};
  NodeStandings standings;
  Network network{nodes};         // where they are in it
  solver::DemandEstimate demand;  // what pods with chips ask for
  PodRecords records;
  Ledger ledger{nodes, &records};
  Jobs jobs;
  GangTable gangs;
  // Why pods that name ResourceClaims wait, or where their claims are; by uid.
  std::map<std::string, std::string, std::less<>> claim_notes;
  std::uint64_t freed = 0;     // how often chips came free without a report of an agent
  std::uint64_t gathered = 0;  // gangs whose last pod came
  std::uint64_t stored = 0;    // bindings that were stored
  std::uint64_t epochs = 0;    // of bindings so far (InFlightBinding::epoch)

  RoomVersion room_version() const {
    return {ledger.released(), nodes.gains(), network.version(), standings.version()};
  }
};

}  // namespace chipweave::sched
