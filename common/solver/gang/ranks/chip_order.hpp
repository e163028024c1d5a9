// ChipOrder — which chip of a pod each of its ranks gets: the groups of ranks inside a pod get the
// chips that reach each other fastest.
//
// A group is as fast as its slowest pair of ranks that exchange data. Of the orders of a pod's
// chips the one is taken with the least sum over groups of weight / GB/s of that pair; then with
// the least sum over all pairs; then with the lowest chips first. Where all chips reach each other
// equally fast it is ascending, so that a local rank is the same chip on every node.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "common/domain/communicators.hpp"
#include "common/domain/node_topology.hpp"
#include "common/solver/gang/chips/tours.hpp"

namespace chipweave::solver {

// Exact up to so many chips; above, swaps from two starts, ascending and the widest ring.
inline constexpr int kMaxExactChipOrder = 8;

// Ranks of a pod, by position, that are in one group and exchange data.
struct RankGroup {
  std::int64_t weight = 1;
  std::vector<std::pair<int, int>> pairs;
  friend auto operator<=>(const RankGroup&, const RankGroup&) = default;
};

// Memoises by topology, chips and groups, since most pods are equal. Not thread-safe; topologies
// must outlive it.
class ChipOrder {
 public:
  // With all sizes filled in (PodTraffic::communicators).
  explicit ChipOrder(std::vector<domain::Communicator> communicators)
      : communicators_(std::move(communicators)) {}

  // Slots of `chips` by local rank, for a pod with one rank a chip whose lowest rank is first_rank.
  // Cost: up to 40,320 orders of at most 28 pairs per communicator.
  const std::vector<int>& of(const domain::NodeTopology& topology, ChipSet chips,
                             std::int64_t first_rank);

  std::vector<RankGroup> groups_of(std::int64_t first_rank, int ranks) const;

 private:
  std::vector<domain::Communicator> communicators_;
  using Key = std::tuple<const domain::NodeTopology*, std::uint64_t, std::vector<RankGroup>>;
  std::map<Key, std::vector<int>> known_;
};

// The best order of the table's items for these groups.
std::vector<int> best_group_order(const HopTable& hops, const std::vector<RankGroup>& groups);

}  // namespace chipweave::solver
