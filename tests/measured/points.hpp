// Published measurements with the model's predictions: read from a folder of data that is not part
// of the repository (measured.json, rank_pairs.json). Shared by the table of
// docs/develop/bandwidth-measurements.md (bench/bandwidth_table.cpp) and the tests.
//
// Measured machines without a built-in profile are described in points.cpp as in their source.
// Throws what nlohmann::json throws if the data is malformed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/solver/gang/chips/gang_bandwidth.hpp"

namespace chipweave::measured {

struct Point {
  std::string id;
  std::string machine;  // its name without remarks
  std::string chips;    // "0 1 2 3", "any 8 per node"
  std::string what;     // "all_reduce, ring, 2 nodes"
  int nodes = 1;
  double measured = 0;              // GB/s
  std::optional<double> predicted;  // GB/s
  std::string missing;              // why nothing is predicted: "no topology", "NICs not stated"
  solver::GangBandwidth gang;       // where there is a topology
  std::string algorithm;            // that the prediction is of: "ring", "nvls", "pair copy", …
  std::string limit;                // the term that decides
  bool broken = false;              // by its own source: degraded, without RDMA, of low confidence
};
std::vector<Point> read_points(std::string_view json);

// Two sets of chips on one machine, one of which was measured to be faster.
struct Pair {
  std::string machine;
  std::string faster;
  std::string slower;
  double ratio = 0;             // measured
  double faster_gbps = 0;       // predicted
  double slower_gbps = 0;       // predicted
  bool different_size = false;  // not a question to a ring model
};
// Only those with a known machine.
std::vector<Pair> read_pairs(std::string_view json);

}  // namespace chipweave::measured
