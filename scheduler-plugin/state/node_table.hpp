// NodeTable — every node the scheduler has inventory of, and which of them are in the same state.
//
// Two nodes are in the same *state* when no request can tell them apart: same wiring (one shared Machine), same free
// and healthy chips, same resources, both fresh or both stale. A decision is made once a state, not once a node.
// Cost: find 5 ns when names come in the order of the last request (its successor is remembered), else one hash
// look-up; a change of a node re-interns its state, O(1).
// Owner: the loop thread. Nodes are never removed while the program runs (ids stay valid); a silent one is stale.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/solver/machine_cache.hpp"
#include "scheduler-plugin/app/model.hpp"

namespace chipweave::sched {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = ~NodeId{0};
using StateId = std::uint32_t;
using domain::ChipSet;

struct Node {
  std::string name;
  std::string machine;    // what people call it
  std::vector<std::string> resources;
  domain::NodeTopology topology;
  std::shared_ptr<solver::Machine> wiring;
  ChipSet unhealthy;
  ChipSet network_unhealthy;
  ChipSet taken;  // by pods, bound or reserved; kept by the Ledger
  bool stale = false;
  std::string boot_id;
  std::string previous_boot_id;
  std::uint64_t sequence = 0;
  Clock::Steady last_seen;
  std::int64_t last_predicate_time = 0;  // UnixNano given to the last bound pod, see annotations.hpp

  ChipSet free() const { return topology.all() - unhealthy - taken; }
};

// What is read for every node of every request, side by side: walking them must not touch the rest of a node.
struct NodeName {
  std::string name;
  std::string json;  // in quotes, escaped
};

struct NodeState {
  std::shared_ptr<solver::Machine> wiring;
  ChipSet free;
  ChipSet unhealthy;
  ChipSet network_unhealthy;
  std::uint32_t resources = 0;  // index of resource_set()
  bool stale = false;
  std::uint32_t nodes = 0;  // how many are in it; 0: the entry is unused
};

class NodeTable {
 public:
  NodeTable();
  std::size_t size() const { return nodes_.size(); }
  const Node& node(NodeId id) const { return *nodes_[id]; }
  // Stays where it is as long as the table.
  const NodeName& name(NodeId id) const { return names_[id]; }
  NodeId find(std::string_view name) const;
  // Like find, guessing that `name` follows `previous` as it did last time.
  NodeId find_after(NodeId previous, std::string_view name);

  StateId state_of(NodeId id) const { return state_of_[id]; }
  const NodeState& state(StateId id) const { return states_[id]; }
  std::size_t states() const { return states_.size(); }  // ids are below
  const std::vector<std::string>& resource_set(std::uint32_t id) const { return resource_sets_[id]; }
  std::size_t machine_classes() const { return machines_.classes(); }
  // Position in natural name order; recomputed after nodes were added.
  std::uint32_t order(NodeId id);

  // slot_moves: for a node whose chips changed, old slot → new slot (-1: gone); empty otherwise.
  struct Reported {
    ReportOutcome outcome = ReportOutcome::taken;
    NodeId node = kNoNode;
    std::vector<int> slot_moves;
    std::string problem;  // why a report was not used as it is, for the log
  };
  Reported report(InventoryReport report, Clock::Steady now);
  void set_taken(NodeId id, ChipSet taken);
  void set_stale(NodeId id, bool stale);
  // A sign of life; ends staleness. No effect if the boot id is another one.
  void seen(NodeId id, std::string_view boot_id, Clock::Steady now);
  void set_predicate_time(NodeId id, std::int64_t nanos) { nodes_[id]->last_predicate_time = nanos; }
  // Marks nodes not heard of since `before` stale; how many became so.
  std::size_t mark_silent(Clock::Steady before);

 private:
  struct StateKey {
    const solver::Machine* wiring;
    std::uint64_t free, unhealthy, network;
    std::uint32_t resources;
    bool stale;
    friend bool operator==(const StateKey&, const StateKey&) = default;
  };
  struct StateHash {
    std::size_t operator()(const StateKey& key) const;
  };

  NodeId add(std::string name);
  void restate(NodeId id);
  void leave_state(StateId id);
  static StateKey key_of(const NodeState& state);
  std::uint32_t intern_resources(const std::vector<std::string>& resources);
  Reported take_full(NodeId id, InventoryReport&& report);
  Reported take_delta(NodeId id, const InventoryReport& report);
  void grow_index();

  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<NodeName> names_;  // capacity kMaxNodes from the start
  std::vector<StateId> state_of_;
  std::vector<std::uint32_t> resources_of_;
  std::vector<NodeId> successor_;
  std::vector<std::uint32_t> order_;
  std::vector<NodeId> index_;  // open addressing, kNoNode: empty; size is a power of two
  std::vector<NodeState> states_;
  std::vector<StateId> unused_states_;
  std::unordered_map<StateKey, StateId, StateHash> state_ids_;
  std::vector<std::vector<std::string>> resource_sets_;
  std::map<std::vector<std::string>, std::uint32_t> resource_ids_;
  solver::MachineCache machines_;
};

}  // namespace chipweave::sched
