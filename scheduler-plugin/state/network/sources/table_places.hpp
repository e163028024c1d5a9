// TablePlaces — the places in a description of the whole network: a file, a ConfigMap, or the
// HyperNodes of the cluster.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/domain/network_table.hpp"
#include "scheduler-plugin/state/network/sources/network_source.hpp"

namespace chipweave::sched {

class TablePlaces final : public PlaceSource {
 public:
  // An empty table: there is none; levels on which no node is known are none. Returns the nodes
  // whose place or leaves are others now; with other levels, the table counts from take_levels()
  // on. A last level on which each node has its own name is the node itself.
  std::vector<std::string> set(domain::NetworkTable table);

  // Its leaf switches by NIC; null: not known.
  const std::vector<std::string>* rails_of(const std::string& node) const;

  bool levels_changed() const override { return next_.has_value(); }
  void take_levels() override;
  SourcePlace place(const std::string& node) const override;

 private:
  struct Entry {
    SourcePlace place;
    std::vector<std::string> rails;
  };
  using Entries = std::unordered_map<std::string, Entry>;
  struct Table {
    SourceLevels levels;
    Entries entries;
  };
  static bool none_knows(const Entries& entries, NetworkPath SourcePlace::*path);

  Entries entries_;
  std::optional<Table> next_;
};

}  // namespace chipweave::sched
