// Network — where the nodes are in the network, from all sources; and for each accelerator resource
// the solver::Fabric of the nodes that offer it.
//
// Of several sources the more specific decides (NetworkSource): it names the levels, and where it
// knows a node it gives its place. A node that it does not know has the place that the next source
// gives it, provided that this one has levels of the same names; otherwise its place is unknown.
// Sources that contradict each other are counted, node by node. The accelerators' own domains
// (super-pods, NVLink domains) are levels where they nest in those of the switches.
//
// A change of one node costs O(levels). Other levels (another label family, accelerators that nest
// elsewhere) cost O(nodes); they come into effect at once, but then not again for kLevelsStay
// unless there are few nodes, so that a source that wavers costs little. Until then places are on
// the levels as they were. Owner: the loop thread.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/base/clock.hpp"
#include "common/domain/network/node_network.hpp"
#include "common/domain/network_table.hpp"
#include "common/solver/gang/fabric.hpp"
#include "scheduler-plugin/state/network/level_nesting.hpp"
#include "scheduler-plugin/state/network/network_shape.hpp"
#include "scheduler-plugin/state/network/resource_fabric.hpp"
#include "scheduler-plugin/state/network/sources/inventory_places.hpp"
#include "scheduler-plugin/state/network/sources/label_places.hpp"
#include "scheduler-plugin/state/network/sources/node_labels.hpp"
#include "scheduler-plugin/state/network/sources/table_places.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

// Two sources that place one node differently on a level of the same name.
struct NetworkConflict {
  std::string level;
  NetworkSource source = NetworkSource::labels;  // the more specific one, which decides
  std::string element;
  NetworkSource other = NetworkSource::labels;
  std::string other_element;
  friend bool operator==(const NetworkConflict&, const NetworkConflict&) = default;
};

class Network {
 public:
  static constexpr std::chrono::seconds kLevelsStay{5};
  static constexpr std::size_t kFewNodes = 256;

  // Reads labels and inventories, until it is configured.
  explicit Network(NodeTable& nodes);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  struct Options {
    std::vector<NetworkSource> sources{NetworkSource::labels, NetworkSource::inventories};
    std::vector<std::string> levels{};  // node labels, coarsest first; empty: by family
  };
  // Call it before anything is set.
  void configure(const Options& options);
  bool uses(NetworkSource source) const { return source_of(source) != nullptr; }

  // --- what sources say; a source that is not used is ignored
  void set_labels(const std::string& node, const NodeLabels::Map& labels,
                  const NodeLabels::Map& annotations = {});
  void drop_labels(const std::string& node);
  void set_inventory(const std::string& node, domain::NodeNetwork network);
  // Of kueue, kai and koordinator: the labels that an object names, coarsest first; none: there is
  // no object.
  void name_levels(NetworkSource source, std::vector<domain::LabelLevel> levels);
  // Of file, configmap and hypernodes; an empty table: there is none.
  void set_table(NetworkSource source, domain::NetworkTable table);
  // Why what a source says last cannot be used; empty: it can.
  void set_problem(NetworkSource source, std::string problem);
  // The source will be read: known() is false until it has been once, or cannot be.
  void await(NetworkSource source) { awaited_ |= bit(source); }
  void arrived(NetworkSource source);
  bool known() const { return awaited_ == 0; }
  const NodeLabels& labels() const { return labels_; }

  // Call it about every second: brings everything up to date, and allows for other levels.
  void tick(Clock::Steady now);

  // --- the result. All of these bring it up to date first.
  // Levels of the fabric, coarsest first. Never empty: the last is the node itself.
  const std::vector<std::string>& levels() const { return current().shape_.levels(); }
  // Position of the level that a name means: the level's name, or a node label that feeds it;
  // nullopt: unknown.
  std::optional<int> level_of(std::string_view name) const {
    return current().shape_.level_of(name);
  }
  // The nodes that offer this resource ("nvidia.com/gpu"): FabricNode::name is Node::name; free is
  // the number of free chips that a pod of a distributed job can use; healthy: not stale, not
  // closed. The object stays, and any call that brings Network up to date changes it.
  solver::Fabric& fabric(const std::string& resource) { return fabric_of(resource).fabric(); }
  // The same with the numbers of the nodes.
  ResourceFabric& fabric_of(const std::string& resource);
  // The path of a node, one element a level; empty elements are unknown. Empty: no such node, or
  // without an inventory.
  std::vector<std::string> path_of(const std::string& node) const;
  // The leaf switch of each NIC of a node, by its index; null: not known.
  const std::vector<std::string>* rails_of(const std::string& node) const;
  // Rises when levels or the place of any node change.
  std::uint64_t version() const { return current().version_; }

  // --- for pages and metrics, as of the last tick or question
  struct SourceState {
    NetworkSource source;
    const SourceLevels& levels;
    std::size_t nodes = 0;  // that have their place from it
    std::string problem;
  };
  std::vector<SourceState> sources() const;
  const NetworkShape& shape() const { return shape_; }
  // Of a level: known ones.
  std::size_t domains(std::size_t level) const { return domains_[level].size(); }
  std::size_t nodes() const { return placed_count_; }
  // Nodes that no level knows, though there are levels.
  std::size_t without_place() const { return without_place_; }
  // By node.
  const std::map<std::string, NetworkConflict>& conflicts() const { return conflicts_; }
  // Rises when conflicts change.
  std::uint64_t conflict_version() const { return conflict_version_; }
  // How many times a node was placed.
  std::uint64_t placements() const { return placements_; }

 private:
  // A node of the table with an inventory.
  struct Placed {
    bool in = false;
    std::uint64_t life = 0;
    std::string name;
    NetworkPath switches;
    NetworkPath accelerator;
    NetworkPath path;                 // on all levels
    std::vector<std::string> leaves;  // of its NICs; empty: not known
    std::optional<std::size_t> source;
  };
  struct Place {
    NetworkPath switches;
    NetworkPath accelerator;
    std::optional<std::size_t> source;
    std::optional<NetworkConflict> conflict;
  };

  static std::uint32_t bit(NetworkSource source) {
    return std::uint32_t{1} << static_cast<std::uint32_t>(source);
  }
  PlaceSource* source_of(NetworkSource source) const;
  TablePlaces* table_of(NetworkSource source) const;
  const Network& current() const;
  void refresh();
  bool may_rebuild() const;
  bool levels_changed() const;
  void rebuild();
  void remove_gone(const std::vector<NodeId>& ids);
  void update(NodeId id);
  Place place_of(const std::string& node) const;
  void enter(NodeId id, Place place);
  void leave(NodeId id);
  void replace(NodeId id);
  void take_leaves(NodeId id);
  void count_domains(const NetworkPath& path, bool enter);
  void set_conflict(const std::string& node, std::optional<NetworkConflict> conflict);
  bool is_placed(const Placed& placed) const;

  NodeTable& nodes_;
  NodeLabels labels_;
  std::array<std::unique_ptr<PlaceSource>, kNetworkSources> sources_;
  InventoryPlaces* inventories_ = nullptr;  // null: not used
  std::array<std::string, kNetworkSources> problems_;
  std::array<std::size_t, kNetworkSources> placed_by_{};
  std::uint32_t awaited_ = 0;
  std::unordered_set<std::string> touched_;  // nodes whose place may be another now

  bool may_rebuild_ = true;
  std::optional<Clock::Steady> rebuilt_;  // when may_rebuild_ was first seen to be false
  NetworkShape shape_;
  LevelNesting nesting_;
  std::vector<Placed> placed_;  // by NodeId
  std::size_t placed_count_ = 0;
  std::size_t without_place_ = 0;
  std::vector<std::unordered_map<std::string, std::size_t>> domains_;  // by level: nodes of each
  std::map<std::string, NetworkConflict> conflicts_;
  std::vector<std::unique_ptr<ResourceFabric>> fabrics_;
  std::uint64_t version_ = 0;
  std::uint64_t conflict_version_ = 0;
  std::uint64_t placements_ = 0;
};

}  // namespace chipweave::sched
