// LeafUnits — the scalable units of a rail fabric: hosts on the same set of leaves are one unit.
// Walking ports up would make a wrong tree, as every leaf sees every spine. Internal to
// common/codec/network.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace chipweave::codec {

using LeafSet = std::vector<std::size_t>;  // ascending, not empty

class LeafUnits {
 public:
  // One set a host.
  explicit LeafUnits(const std::vector<LeafSet>& hosts);

  // The leaves of the unit that a host of the constructor is in. One missing leaf is tolerated
  // where it is clear which unit is meant; a host on still fewer leaves of one unit is outside
  // (nullopt): management hosts, broken cables.
  std::optional<LeafSet> of(const LeafSet& host) const;

 private:
  void join_those_that_miss_one();
  void claim(const LeafSet& leaves);
  const LeafSet* owner_of(const LeafSet& leaves) const;

  std::map<LeafSet, std::size_t> count_;  // hosts
  std::map<LeafSet, LeafSet> unit_;       // of sets that joined another
  std::map<std::size_t, const LeafSet*> owner_;
};

// The first of the leaves in natural order.
std::string unit_name(const LeafSet& leaves, const std::vector<std::string>& names);

}  // namespace chipweave::codec
