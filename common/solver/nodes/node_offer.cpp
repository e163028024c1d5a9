#include "common/solver/nodes/node_offer.hpp"

#include <bit>

namespace chipweave::solver {

NodeOffer offer_of(Machine& machine, ChipSet free, ChipSet chips, double gbps) {
  const ChipSet rest = free - chips;
  return {gbps,        machine.whole_gbps(),     free.size(),
          rest.size(), machine.open_sizes(free), machine.open_sizes(rest)};
}

double unusable_chips(int free, OpenSizes open) {
  constexpr unsigned kSizes = 0b1111;  // 1, 2, 4, 8
  const int closed = std::popcount(kSizes & ~static_cast<unsigned>(open));
  return static_cast<double>(free * closed) / std::popcount(kSizes);
}

}  // namespace chipweave::solver
