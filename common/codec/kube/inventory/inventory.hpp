// NodeInventory — the custom resource in which an agent publishes its node's inventory: one
// cluster-scoped object per node, with the node's name and all data in its status.
//
// Its schema is charts/chipweave/crds/chipweave.dev_nodeinventories.yaml; the API server silently
// drops keys that are missing there, so a test checks this writer against it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/objects/stored_object.hpp"
#include "common/domain/carried.hpp"
#include "common/domain/condition.hpp"
#include "common/domain/enforcement.hpp"
#include "common/domain/fault.hpp"
#include "common/domain/given_chips.hpp"
#include "common/domain/node_topology.hpp"
#include "common/domain/observation.hpp"

namespace chipweave::codec {

inline constexpr const char* kInventoryPath = "/apis/chipweave.dev/v1alpha1/nodeinventories";

struct NodeInventory {
  std::string node;
  std::string boot_id;        // identifies one run of the agent
  std::int64_t sequence = 0;  // from 1 in each boot, rising with every change
  std::string machine;        // what people call it; may be empty
  std::vector<std::string> resources;
  domain::NodeTopology topology;  // with today's health
  // In addition to the topology, for people and for the agent's next run; readers of the topology
  // ignore it.
  std::string node_boot_id = {};  // the kernel's; "": unknown
  std::vector<domain::Fault> faults = {};
  std::vector<domain::Condition> conditions = {};
  std::vector<domain::Neighbour> neighbours = {};
  std::map<std::string, std::string> facts = {};
  domain::CarriedPeaks carried = {};
  std::optional<domain::GivenChips> given = {};  // nullopt: not known
  domain::Enforcement enforcement = domain::Enforcement::none;
  // Whether the device plugin is ready for pods; only with Enforcement::device_plugin.
  bool gate_open = false;
};

// An object without status, owned by the Node with that uid (empty: without an owner), so that it
// is deleted together with the Node.
std::string write_inventory_object(const std::string& node, const std::string& node_uid);
// The same owner for an object that has none, as a merge patch.
std::string write_inventory_owner(const std::string& node, const std::string& node_uid,
                                  const ObjectVersion& of);
// The body of a PUT on the status. In addition to the data it has the numbers of chips and of
// unhealthy chips, for kubectl's columns.
std::string write_inventory_status(const NodeInventory& inventory, const ObjectVersion& of);

// `status`: the JSON text of that value of the object. Unknown keys are ignored; the topology is
// read strictly. Errors name the key ("status.topology: chips[0].index: …"); limit_exceeded above
// limits::kMaxKubeObjectBytes.
Result<NodeInventory> read_inventory_status(std::string_view status, const std::string& node);

}  // namespace chipweave::codec
