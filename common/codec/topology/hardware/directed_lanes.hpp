// DirectedLanes — links as each end states them, and what both ends agree on.
//
// A link that only one end reports, or that the ends count differently, is real on drivers that are
// half up: the smaller number holds and a warning names the pair.
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

  // Several statements of one direction add up. Precondition: lanes 1..kMaxLanes, from != to.
  void add(int from, int to, int lanes) { lanes_[{from, to}] += lanes; }

  // Ascending by (a, b); pairs with nothing left are not in it. index_of: what a warning calls an
  // end, where the ends are not chip indices themselves.
  std::vector<Agreed> agree(Warnings& warnings,
                            const std::function<int(int)>& index_of = nullptr) const;

 private:
  std::map<std::pair<int, int>, int> lanes_;
};

}  // namespace chipweave::codec
