// InventoryReport — what an agent reports of its node's chips, and how the report was received.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/carried.hpp"
#include "common/domain/enforcement.hpp"
#include "common/domain/fault.hpp"
#include "common/domain/given_chips.hpp"
#include "common/domain/network/node_network.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::sched {

struct LinkChange {
  domain::ChipIndex a, b;
  int lanes_down = 0;
};
struct ChipChange {
  domain::ChipIndex chip;
  domain::Health health = domain::Health::healthy;
};

// One report of an agent. Full: topology set. Delta: changes against the last report of the same
// boot.
struct InventoryReport {
  std::string node;
  std::string boot_id;
  std::uint64_t sequence = 0;  // rises by at least 1 within one boot id
  // The API server keeps it and orders its versions: the newest counts, whatever its boot id and
  // sequence. Otherwise a forged report could make the table ignore all later real ones.
  bool ordered = false;
  std::string machine;                 // display name: profile or model
  std::vector<std::string> resources;  // extended resources of these chips
  std::optional<domain::NodeTopology> topology;
  std::vector<ChipChange> chips;
  std::vector<LinkChange> links;
  // All current faults, for display only. Absent: unchanged in a delta, unknown otherwise.
  std::optional<std::vector<domain::Fault>> faults;
  // What links carry, for display only. Absent: unchanged in a delta, not measured otherwise.
  std::optional<domain::CarriedPeaks> carried;
  // Which containers have which chips. Absent: unchanged in a delta, not known otherwise.
  std::optional<domain::GivenChips> given;
  // Absent: unchanged in a delta, none otherwise.
  std::optional<domain::Enforcement> enforcement;
  // Whether the node's device plugin is ready for pods. Absent: unchanged in a delta, no otherwise.
  std::optional<bool> gate_open;
  // What the node sees of the network. Absent: unchanged in a delta, in a full report only the
  // super-pod of its topology.
  std::optional<domain::NodeNetwork> network;
};

// Whether a report was accepted, or why not (older than the current one, delta without its base,
// node table full).
enum class ReportOutcome { taken, older, needs_full, no_room };
struct ReportAnswer {
  ReportAnswer(ReportOutcome o, std::string why = {}) : outcome(o), problem(std::move(why)) {}
  ReportOutcome outcome;
  std::string problem;  // message for the agent's log; empty if accepted
  friend bool operator==(const ReportAnswer& a, ReportOutcome o) { return a.outcome == o; }
};

}  // namespace chipweave::sched
