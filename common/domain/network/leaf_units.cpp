#include "common/domain/network/leaf_units.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/natural_order.hpp"

namespace chipweave::domain {

namespace {

std::map<LeafSet, std::size_t> counted(const std::vector<LeafSet>& hosts) {
  std::map<LeafSet, std::size_t> out;
  for (const LeafSet& leaves : hosts) ++out[leaves];
  return out;
}

}  // namespace

LeafUnits::LeafUnits(const std::vector<LeafSet>& hosts) : LeafUnits(counted(hosts)) {}

LeafUnits::LeafUnits(std::map<LeafSet, std::size_t> hosts) : count_(std::move(hosts)) {
  join_those_that_miss_one();
  for (const auto& [leaves, unused] : count_) {
    if (unit_.count(leaves) == 0) claim(leaves);
  }
}

void LeafUnits::join_those_that_miss_one() {
  std::map<LeafSet, std::set<LeafSet>> wider;
  for (const auto& [leaves, unused] : count_) {
    for (std::size_t i = 0; i < leaves.size() && leaves.size() > 1; ++i) {
      LeafSet less = leaves;
      less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
      if (count_.count(less) > 0) wider[less].insert(leaves);
    }
  }
  for (const auto& [leaves, units] : wider) {
    // A set that is part of another unit is not a unit itself.
    if (units.size() == 1 && wider.count(*units.begin()) == 0) unit_[leaves] = *units.begin();
  }
}

// A leaf belongs to the widest set that contains it; among those, to the one with the most hosts.
void LeafUnits::claim(const LeafSet& leaves) {
  const LeafSet* claimed = &count_.find(leaves)->first;
  for (const std::size_t leaf : leaves) {
    const LeafSet*& owner = owner_[leaf];
    const bool wins = owner == nullptr || std::pair(leaves.size(), count_.at(leaves)) >
                                              std::pair(owner->size(), count_.at(*owner));
    if (wins) owner = claimed;
  }
}

const LeafSet* LeafUnits::owner_of(const LeafSet& leaves) const {
  const LeafSet* owner = owner_.at(leaves.front());
  const bool one = std::all_of(leaves.begin(), leaves.end(),
                               [&](std::size_t leaf) { return owner_.at(leaf) == owner; });
  return one ? owner : nullptr;
}

std::optional<LeafSet> LeafUnits::of(const LeafSet& host) const {
  if (const auto found = unit_.find(host); found != unit_.end()) return found->second;
  const LeafSet* owner = owner_of(host);
  if (owner != nullptr && owner->size() > host.size() + 1) return std::nullopt;
  return host;
}

std::string unit_name(const LeafSet& leaves, const std::vector<std::string>& names) {
  return names[*std::min_element(leaves.begin(), leaves.end(), [&](std::size_t a, std::size_t b) {
    return natural_less(names[a], names[b]);
  })];
}

}  // namespace chipweave::domain
