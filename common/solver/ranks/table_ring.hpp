// TableRing — the ring of a rank table over a network: where it crosses from one server, leaf
// switch or super-pod to another, how often it must, and the numbering with the fewest crossings.
//
// A ring goes from rank i to i+1 and from the last rank to the first (HCCL, NCCL between nodes). If
// every domain of every level is one run of ranks, a ring crosses a level as often as it has
// domains (not at all if there is one), which is the minimum; see rank_order.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/network_table.hpp"
#include "common/domain/ranktable/flatten.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::solver {

struct RingHost {
  std::string name;               // server_id
  std::vector<std::string> path;  // one element per level; empty: unknown
  std::vector<domain::ranktable::Device> devices;
};

struct RingLevel {
  std::string name;  // "super-pod", a level of the network, "server"
  std::size_t crossings = 0;
  std::size_t least = 0;
};

// A step of the ring between domains; level: the coarsest level that it crosses.
struct RingCrossing {
  std::size_t level;
  std::int64_t from_rank, to_rank;
  std::size_t from_host, to_host;
};

struct TableRing {
  std::vector<RingLevel> levels;     // coarsest first, "server" last
  std::vector<RingHost> hosts;       // in the order of the table
  std::vector<RingCrossing> steps;   // steps between servers, in the order of ranks
  std::vector<std::size_t> order;    // hosts in the order with the fewest crossings
  std::vector<std::string> unknown;  // hosts that are not in the network
  // Of hosts that could be several nodes of it: "gpu01" could be gpu01.a or gpu01.b
  std::vector<std::string> ambiguous;
  // Crossings of the level above "server" beyond the minimum; 0 without a network.
  std::size_t leaf_surplus() const;
};

// network may be nullptr. Hosts are looked up by server_id, then host_ip, server_ip and pod name;
// short and fully qualified names match (HostNames).
// In a table with super-pods these are the coarsest level. Errors: those of flatten(). Cost:
// O(ranks + hosts log hosts) per level.
Result<TableRing> table_ring(const domain::ranktable::RankTable& table,
                             const domain::NetworkTable* network,
                             const domain::ranktable::JobChoice& choice = {});

// The rank of each device in ring.order: host after host, devices of a host by device_id, so that
// the i-th devices of all hosts share a rail and dies of one NPU are neighbours. Devices are
// identified by their source.
std::vector<std::pair<domain::ranktable::Source, std::int64_t>> best_ranks(const TableRing& ring);

}  // namespace chipweave::solver
