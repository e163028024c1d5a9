// NodeTable — every node the scheduler has inventory of, and which of them are in the same state.
//
// Two nodes are in the same *state* when no request can tell them apart: same wiring (one shared
// Machine), same free and healthy chips, same free CPU and memory as far as they count, same
// resources, both fresh or both stale, both open or both closed. A decision is made once per state,
// not once per node. A node without inventory has no state: it is known by name because pods are
// bound to it. A change of a node re-interns its state, O(1). Owner: the loop thread. Nodes are not
// removed while the program runs (ids stay valid). A node that does not report becomes stale; once
// the table is full, a stale node without pods is replaced.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/clock.hpp"
#include "common/solver/chips/machine_cache.hpp"
#include "common/solver/gang/chips/topology_cache.hpp"
#include "common/solver/nodes/room.hpp"
#include "scheduler-plugin/model/inventory.hpp"
#include "scheduler-plugin/state/name_index.hpp"

namespace chipweave::sched {

using StateId = std::uint32_t;
inline constexpr StateId kNoState = ~StateId{0};
using domain::ChipSet;

struct Node {
  std::string name;
  std::string machine;  // display name
  std::vector<std::string> resources;
  domain::NodeTopology topology;
  std::shared_ptr<solver::Machine> wiring;
  // The same machine for the plans of gangs: shared by nodes that these cannot tell apart.
  std::shared_ptr<const domain::NodeTopology> layout;
  ChipSet unhealthy;           // as its agent reports it, and those withheld
  ChipSet reported_unhealthy;  // the former alone
  ChipSet network_unhealthy;
  std::vector<domain::Fault> faults;  // why, as its agent reports it, worst first, and `withheld`.
                                      // For people, but for "nvml.mig" (BoundPods)
  std::vector<domain::Fault> withheld;      // chips that cannot be handed over, a fault each
  domain::CarriedPeaks carried;             // what links carry, as its agent measures; for people
  std::optional<domain::GivenChips> given;  // by the kubelet to containers; nullopt: not known
  domain::Enforcement enforcement = domain::Enforcement::none;  // as its agent's options say
  bool gate_open = false;                                       // of a device plugin that enforces
  ChipSet taken;            // by pods, bound or reserved; kept by the Ledger
  solver::Room whole_room;  // CPU and memory that it has for pods; kept by NodeRooms
  solver::Room room;        // and what of that no pod requests; likewise
  std::size_t holders =
      0;              // pods that hold chips, including chips that are not reported now; likewise
  bool stale = true;  // until its agent reports
  std::uint64_t life = 0;  // differs between nodes that have had this id, also of one name
  bool changed = false;    // in NodeTable::take_changed()
  std::string boot_id;
  std::string previous_boot_id;
  std::uint64_t sequence = 0;
  Clock::Steady last_seen;
  std::int64_t last_predicate_time =
      0;  // UnixNano given to the last bound pod, see annotations.hpp

  ChipSet free() const { return topology.all() - unhealthy - taken; }
  bool has_inventory() const { return wiring != nullptr; }
  // The kubelet would refuse pods, or give them other chips than were chosen.
  bool closed() const { return enforcement == domain::Enforcement::device_plugin && !gate_open; }
};

struct NodeState {
  std::shared_ptr<solver::Machine> wiring;
  ChipSet free;
  ChipSet unhealthy;
  ChipSet network_unhealthy;
  std::uint32_t resources = 0;  // index of resource_set()
  bool stale = false;
  bool closed = false;
  solver::Room room{};
  std::uint32_t nodes = 0;  // how many are in it; 0: the entry is unused
};

class NodeTable {
 public:
  std::size_t size() const { return nodes_.size(); }
  const Node& node(NodeId id) const { return *nodes_[id]; }
  // The part of a node that a walk over thousands of nodes reads in addition to the name.
  struct Standing {
    StateId state = kNoState;  // kNoState: it has no inventory
    std::uint32_t order = 0;   // position in natural name order, valid after sort_names()
  };
  const Standing& standing(NodeId id) const { return standings_[id]; }
  NodeId find(std::string_view name) const { return names_.find(name); }
  // ids[i]: the node called names[i], or kNoNode; see NameIndex.
  void find_all(std::span<const std::string_view> names, std::vector<NodeId>& ids) const {
    names_.find_all(names, ids);
  }

  StateId state_of(NodeId id) const { return standings_[id].state; }
  const NodeState& state(StateId id) const { return states_[id]; }
  std::size_t states() const { return states_.size(); }  // ids are below
  // Differs between any two states that ever had this id: results for a state are valid as long as
  // its serial stays.
  std::uint64_t serial(StateId id) const { return serials_[id]; }
  // Rises with every new state.
  std::uint64_t last_serial() const { return last_serial_; }
  // Rises when a node is added, or a number is given to another node.
  std::uint64_t names_version() const { return names_version_; }
  // Rises whenever an agent's report or heartbeat lets a node offer more than before.
  std::uint64_t gains() const { return gains_; }
  const std::vector<std::string>& resource_set(std::uint32_t id) const {
    return resource_sets_[id].names;
  }
  std::size_t resource_sets() const { return resource_sets_.size(); }
  std::size_t machine_classes() const { return machines_.classes(); }
  // Brings the positions in natural name order up to date; costs nothing unless nodes were added.
  void sort_names() const;
  std::vector<NodeId> by_name() const;
  // Of those with inventory, in that order.
  std::vector<std::string_view> reported_names() const;

  // old_indices: set if the node was reported with other chips than before: the vendor index of
  // each of its former slots. No chip of the node then counts as taken until set_taken().
  struct Reported {
    ReportOutcome outcome = ReportOutcome::taken;
    NodeId node = kNoNode;
    std::optional<std::vector<int>> old_indices;
    std::string problem;  // why a report was not accepted
    bool faults_changed = false;
    bool given_changed = false;
  };
  Reported report(InventoryReport report, Clock::Steady now);
  // The node of that name, added without inventory if there is none; kNoNode if the table is full
  // or the name is invalid.
  NodeId declare(const std::string& name);
  // Withdraws the agent's report: nothing new is placed there until it reports again, with any
  // sequence number.
  void withdraw_inventory(NodeId id);
  // Removes the node. Precondition: no pod holds chips there.
  void remove(NodeId id);
  void set_taken(NodeId id, ChipSet taken, std::size_t holders);
  // Chips of the node that cannot be handed over to containers, whatever its agent reports: a fault
  // each. Kept over its reports.
  void set_withheld(NodeId id, std::vector<domain::Fault> withheld);
  void set_room(NodeId id, const solver::Room& whole, const solver::Room& free);
  void set_stale(NodeId id, bool stale);
  // A heartbeat; ends staleness. No effect if the boot id differs or the inventory was withdrawn.
  void seen(NodeId id, std::string_view boot_id, Clock::Steady now);
  void set_predicate_time(NodeId id, std::int64_t nanos) {
    nodes_[id]->last_predicate_time = nanos;
  }
  // Marks nodes without a heartbeat since `before` stale; returns how many became stale.
  std::size_t mark_stale(Clock::Steady before);
  // The nodes whose chips, resources, room or standing changed since the last call, each once.
  // There is one reader (Network).
  std::vector<NodeId> take_changed();

 private:
  struct StateKey {
    const solver::Machine* wiring;
    std::uint64_t free, unhealthy, network;
    std::uint32_t resources;
    bool stale;
    bool closed;
    solver::Room room;
    friend bool operator==(const StateKey&, const StateKey&) = default;
  };
  struct StateHash {
    std::size_t operator()(const StateKey& key) const;
  };

  NodeId add(std::string name);
  NodeId make_room(std::string name);
  void reset(NodeId id, std::string name);
  // reported: because of a report or heartbeat, which gains() counts.
  void restate(NodeId id, bool reported = false);
  void leave_state(StateId id);
  void note_changed(NodeId id);
  static StateKey key_of(const NodeState& state);
  void set_resources(NodeId id, const std::vector<std::string>& resources);
  void leave_resources(NodeId id);
  void take_wiring(Node& node);
  Reported take_full(NodeId id, InventoryReport&& report);
  Reported take_delta(NodeId id, InventoryReport&& report);

  std::vector<std::unique_ptr<Node>> nodes_;
  // mutable: NameIndex remembers the order that requests list names in, and positions in name order
  // are computed when they are needed
  mutable NameIndex names_;
  mutable std::vector<Standing> standings_;
  static constexpr std::uint32_t kNoResources = ~std::uint32_t{0};
  std::vector<std::uint32_t> resources_of_;  // by node
  mutable bool sorted_ = true;
  std::vector<NodeState> states_;
  std::vector<std::uint64_t> serials_;  // by state id
  std::uint64_t last_serial_ = 0;
  std::uint64_t gains_ = 0;
  std::uint64_t names_version_ = 0;
  std::vector<StateId> unused_states_;
  std::unordered_map<StateKey, StateId, StateHash> state_ids_;
  std::vector<NodeId> changed_;
  struct ResourceSet {
    std::vector<std::string> names;  // ascending
    std::size_t nodes = 0;           // that have it; 0: the entry is unused
  };
  std::vector<ResourceSet> resource_sets_;
  std::vector<std::uint32_t> unused_resources_;
  std::map<std::vector<std::string>, std::uint32_t> resource_ids_;
  solver::MachineCache machines_;
  solver::TopologyCache layouts_;
};

}  // namespace chipweave::sched
