// The health part of a NodeInventory's status: faults, conditions, neighbours, facts, what links
// carry, and which containers have which chips. Internal to common/codec/kube, except for reading
// them back.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_writer.hpp"
#include "common/base/result.hpp"
#include "common/codec/kube/inventory/inventory.hpp"
#include "common/domain/fault.hpp"
#include "common/domain/remembered_node.hpp"

namespace chipweave::codec {

inline constexpr std::size_t kMaxReportedNeighbours = 256;
inline constexpr std::size_t kMaxReportedFacts = 256;

// The keys nodeBootId, faults, conditions, neighbours, facts, carried, given, enforcement and gate,
// each only if it is not empty; given if it is known, enforcement unless there is none, gate if a
// device plugin of ours enforces.
void write_inventory_health(JsonWriter& w, const NodeInventory& inventory);

// What an object remembers for the agent's next run. Each part that cannot be read is left out and
// named in `problems`; an object without a status remembers nothing. node_boot_id: of the boot of
// now; "": unknown, and so not the same as any other.
struct InventoryMemory {
  domain::RememberedNode node;
  std::vector<std::string> problems;
};
InventoryMemory read_object_memory(std::string_view object, std::string_view node_boot_id);

// What an agent reports about its node besides the topology, from any boot: faults (without the
// time until which they are held) and facts.
struct ReportedHealth {
  std::vector<domain::Fault> faults;
  std::map<std::string, std::string> facts;
};
// `status` as in read_inventory_status(). Errors name the key.
Result<ReportedHealth> read_status_health(std::string_view status);
// What a status says for people besides the topology; a status that says neither is not parsed.
struct StatusDetails {
  Result<std::vector<domain::Fault>> faults;  // with the time until which they are held
  domain::CarriedPeaks carried;               // without what makes no sense
  std::optional<domain::GivenChips> given;    // likewise; nullopt: not known
  // A mode that this version does not know counts as none.
  domain::Enforcement enforcement = domain::Enforcement::none;
  bool gate_open = false;  // anything but "open" is closed
};
StatusDetails read_status_details(std::string_view status);

}  // namespace chipweave::codec
