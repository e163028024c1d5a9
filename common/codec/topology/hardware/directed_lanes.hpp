// DirectedLanes — links as each end reports them, and what both ends agree on.
//
// While a driver starts, only one end may report a link, or the ends may count its lanes
// differently: then the smaller number counts and a warning names the pair.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/codec/text/warnings.hpp"

namespace chipweave::codec {

class DirectedLanes {
 public:
  struct Agreed {
    int a;  // a < b
    int b;
    int lanes;  // >= 1
  };

  // Lanes of one direction add up. Precondition: lanes 1..kMaxLanes, from != to.
  void add(int from, int to, int lanes) { lanes_[{from, to}] += lanes; }

  // Ascending by (a, b), without pairs that have no lanes left. index_of: the chip index of an end,
  // for warnings, if the ends are not chip indices themselves.
  std::vector<Agreed> agree(Warnings& warnings,
                            const std::function<int(int)>& index_of = nullptr) const;

 private:
  std::map<std::pair<int, int>, int> lanes_;
};

}  // namespace chipweave::codec
