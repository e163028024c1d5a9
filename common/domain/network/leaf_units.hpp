// LeafUnits — the scalable units of a rail fabric: hosts on the same set of leaves are one unit.
// Following ports upwards would make a wrong tree, as every leaf is connected to every spine.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace chipweave::domain {

using LeafSet = std::vector<std::size_t>;  // ascending, not empty

class LeafUnits {
 public:
  // One set a host.
  explicit LeafUnits(const std::vector<LeafSet>& hosts);
  // The number of hosts with each set.
  explicit LeafUnits(std::map<LeafSet, std::size_t> hosts);

  // The leaves of the unit of a host that was given to the constructor. One missing leaf is
  // tolerated where the unit is unambiguous. A host on fewer leaves (a management host, broken
  // cables) belongs to no unit: nullopt.
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

}  // namespace chipweave::domain
