// all_to_all — predicted all-to-all bus bandwidth of a gang (expert parallelism), GB/s, and how
// many pairs of chips talk across each level.
//
// Each of N chips exchanges as much with any other. With c chips on a node, all-to-all bandwidth A
// inside it and adapters of R GB/s together, C chips in a domain that gets L GB/s a node:
//
//   inside a node       A · (N-1)/(c-1)
//   adapters of a node  R · (N-1)/(c (N-c))
//   a level             L · nodes · (N-1)/(C (N-C))
//
// nccl-tests' convention: algorithm bandwidth times (N-1)/N. Adapters need not be common to all
// nodes: libraries forward inside the node to the adapter near the receiver. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/solver/gang/chips/gang_bandwidth.hpp"

namespace chipweave::solver {

// Chips of the gang in one domain of a level.
struct DomainShare {
  int nodes = 0;
  std::int64_t chips = 0;
};

struct AllToAllNode {
  std::string name;
  std::int64_t chips = 0;
  std::optional<double> inside_gbps;  // of its chips; ignored for a single one; nullopt: not known
  std::optional<double> adapters_gbps;  // of its rails together; nullopt: not known
};
struct AllToAllLevel {
  std::string name;
  std::optional<double> gbps;  // what a node gets across it; nullopt: not known
  std::vector<DomainShare> domains;
};

struct AllToAll {
  std::optional<double> gbps;  // the least of the known terms; nullopt: there is none
  std::string limit;           // its name: "chips of n1", "adapters of n2", "level rack"
  std::vector<std::int64_t> crossing_pairs;  // by level: pairs of chips in different domains
  std::int64_t node_pairs = 0;               // on different nodes
};

// The lesser of a node's own terms in a gang of so many chips; nullopt: it has none.
std::optional<double> node_limit(const AllToAllNode& node, std::int64_t chips);

// O(nodes + domains).
AllToAll all_to_all(const std::vector<AllToAllNode>& nodes,
                    const std::vector<AllToAllLevel>& levels);

// Pairs of chips in different parts, of which each holds so many.
std::int64_t pairs_across(const std::vector<std::int64_t>& chips);

}  // namespace chipweave::solver
