// diff — the differences of two rank tables by meaning. Layout, the order of members and, if ranks
// are numbered, the order of lists do not matter.
#pragma once

#include <string>
#include <vector>

#include "common/domain/ranktable/table.hpp"

namespace chipweave::domain::ranktable {

struct Difference {
  std::string where;  // "server node_0, device 3"
  std::string what;   // "device_ip"
  std::string a;      // as text; "" with `missing_*`
  std::string b;
  bool only_in_a = false;  // the whole thing named by `where`
  bool only_in_b = false;
};

// Devices are compared by host, device id and, in global tables, group; ranks of 2.0 by rank_id.
// In the order of a, then what only b has. Tables of different dialects are compared in what both
// can express. Cost: O(ranks log ranks).
std::vector<Difference> diff(const RankTable& a, const RankTable& b);

}  // namespace chipweave::domain::ranktable
