// The ring of a rank table over a network: where it crosses from one server, leaf switch or super
// pod to another, how often it must, and the numbering that does it no more often than that.
//
// A ring goes from rank i to i+1 and from the last to the first (HCCL, NCCL between nodes). With
// every domain of every level one run of ranks a ring crosses at a level as often as there are
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
  std::vector<std::string> path;  // one element a level; empty: the network does not know it
  std::vector<domain::ranktable::Device> devices;
};

struct RingLevel {
  std::string name;  // "super-pod", a level of the network, "server"
  std::size_t crossings = 0;
  std::size_t least = 0;
};

// A step of the ring that leaves a domain of `level`, the coarsest that it leaves.
struct RingCrossing {
  std::size_t level;
  std::int64_t from_rank, to_rank;
  std::size_t from_host, to_host;
};

struct TableRing {
  std::vector<RingLevel> levels;      // coarsest first, "server" last
  std::vector<RingHost> hosts;        // in the order of the text
  std::vector<RingCrossing> steps;    // those that leave a server, in the order of ranks
  std::vector<std::size_t> order;     // hosts, in the order that crosses least
  std::vector<std::string> unknown;   // hosts that the network does not know
  std::vector<std::string> warnings;  // of what was read from the table
  // Crossings of the level before "server" beyond what they must be; 0 without network.
  std::size_t leaf_surplus() const;
};

// network may be nullptr. Hosts are found in it by server_id, then host_ip, server_ip and pod name.
// A table with super pods has them as its coarsest level. Errors: those of flatten().
// Cost: O(ranks + hosts log hosts) per level.
Result<TableRing> table_ring(const domain::ranktable::RankTable& table,
                             const domain::NetworkTable* network,
                             const domain::ranktable::JobChoice& choice = {});

// The rank that each device of each host gets in ring.order: hosts one behind the other, devices of
// a host by device_id, so that the i-th of each host are of one rail and dies of one NPU
// neighbours. The pairs name devices by their source.
std::vector<std::pair<domain::ranktable::Source, std::int64_t>> best_ranks(const TableRing& ring);

}  // namespace chipweave::solver
