// InventoryPlaces — the places that agents report: nodes whose ports lead to the same leaf switches
// are one unit (domain::LeafUnits), and the accelerators' interconnect is a second hierarchy. The
// same meaning as codec's importer of NodeInventories.
//
// A change costs O(its leaves); if it makes the units of leaves unclear, settle() costs O(different
// sets of leaves) in addition.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/domain/network/node_network.hpp"
#include "scheduler-plugin/state/network/sources/network_source.hpp"

namespace chipweave::sched {

class InventoryPlaces final : public PlaceSource {
 public:
  static constexpr std::size_t kMaxNodes = 100'000;

  // Whether anything changed. A node without leaves and interconnect is dropped; one above
  // kMaxNodes is not kept.
  bool set(const std::string& node, domain::NodeNetwork network);
  // Brings the units up to date; returns the nodes whose unit is another now.
  std::vector<std::string> settle();

  // Null: nothing is known.
  const domain::NodeNetwork* find(const std::string& node) const;

  bool levels_changed() const override;
  void take_levels() override { levels_ = wanted(); }
  SourcePlace place(const std::string& node) const override;

 private:
  using Leaves = std::vector<std::string>;
  struct LeafGroup {
    std::set<std::string> nodes;  // whose leaves are these
    std::string unit;             // empty: no unit has them
  };
  SourceLevels wanted() const;
  void leave(const std::string& node, const domain::NodeNetwork& network);

  std::unordered_map<std::string, domain::NodeNetwork> nodes_;
  std::map<Leaves, LeafGroup> groups_;
  bool settled_ = true;
  std::size_t in_units_ = 0;  // nodes
  std::size_t interconnected_ = 0;
};

}  // namespace chipweave::sched
