// Devices — the chips of this machine as the kubelet knows them: an id for each, and whether the
// kubelet may give it to a container. Immutable.
//
// The ids are those that the vendor's own device plugin uses, so that the agent and other readers
// of PodResources understand them: NVIDIA's and MetaX's UUIDs, AMD's PCI addresses, Ascend's names
// by physical number. Where a chip has none, or two have the same, all chips go by their index.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/node_topology.hpp"
#include "common/solver/chips/machine.hpp"

namespace chipweave::device_plugin {

using domain::ChipSet;

class Devices {
 public:
  // machine: of a topology of the same class (machine_cache.hpp).
  Devices(const domain::NodeTopology& topology, std::shared_ptr<solver::Machine> machine);
  // As another plugin offers them. ids: by slot; "": it does not offer that chip. usable: those
  // that it calls healthy.
  Devices(domain::NodeTopology topology, std::shared_ptr<solver::Machine> machine,
          std::vector<std::string> ids, ChipSet usable);

  const domain::NodeTopology& topology() const { return topology_; }
  solver::Machine& machine() const { return *machine_; }
  int count() const { return static_cast<int>(ids_.size()); }
  const std::string& id(int slot) const { return ids_[static_cast<std::size_t>(slot)]; }
  std::optional<int> slot(std::string_view id) const;
  // Ascending by slot.
  std::vector<std::string> ids(ChipSet chips) const;
  // Those of the ids that are chips of this machine; unknown: how many are none.
  ChipSet chips(const std::vector<std::string>& ids, int* unknown = nullptr) const;
  ChipSet healthy() const { return usable_ - topology().unhealthy(); }
  // The same machine, where the kubelet may not give these chips to a container.
  std::shared_ptr<const Devices> without(ChipSet chips) const;

 private:
  domain::NodeTopology topology_;
  std::shared_ptr<solver::Machine> machine_;
  std::vector<std::string> ids_;  // by slot
  ChipSet usable_;
  std::map<std::string, int, std::less<>> slots_;
};

using DevicesPtr = std::shared_ptr<const Devices>;

// What a plugin may call the chips: in each form a name by slot; the last form is the index.
std::vector<std::vector<std::string>> id_forms(const domain::NodeTopology& topology);

// A device as ListAndWatch sends it.
struct OfferedDevice {
  std::string id;
  bool healthy = false;
  friend bool operator==(const OfferedDevice&, const OfferedDevice&) = default;
};
// current: whether the report about the chips still holds; otherwise all are unhealthy.
std::vector<OfferedDevice> offered(const Devices& devices, bool current);

}  // namespace chipweave::device_plugin
