// InventorySink — takes what agents report of their nodes, over gRPC or as NodeInventory objects.
// All calls on the loop thread; none blocks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/fault.hpp"
#include "common/domain/node_selection.hpp"
#include "scheduler-plugin/model/inventory.hpp"
#include "scheduler-plugin/model/node_use.hpp"

namespace chipweave::sched {

class InventorySink {
 public:
  InventorySink() = default;
  InventorySink(const InventorySink&) = delete;
  InventorySink& operator=(const InventorySink&) = delete;
  virtual ~InventorySink() = default;

  virtual ReportAnswer report(InventoryReport report) = 0;
  // The agent's stream ended or timed out: the node becomes stale (it stays known, but nothing new
  // is placed on it).
  virtual void agent_gone(std::string_view node, std::string_view boot_id) = 0;
  // The agent is alive; nothing changed.
  virtual void heartbeat(std::string_view node, std::string_view boot_id) = 0;
  // The agent's report was withdrawn, or the node was deleted.
  virtual void inventory_gone(std::string_view node) = 0;
  // Chips of the node that cannot be handed over to containers, whatever its agent reports: a fault
  // of the chip each. Replaces what was said before; an unknown node is ignored.
  virtual void withhold(std::string_view node, std::vector<domain::Fault> chips) = 0;
  // What the node has for pods, by its Node object; absent: it is not known any more.
  virtual void node_offers(const std::string& node, const std::optional<NodeUse>& allocatable) = 0;
  // Which pods the node takes, by its Node object, which gangs are planned by; absent: there is
  // none any more.
  virtual void node_takes(const std::string& node,
                          std::optional<domain::NodeStanding> standing) = 0;
};

}  // namespace chipweave::sched
