#include "common/solver/chips/node_offer.hpp"

namespace chipweave::solver {

double SizeMix::unusable(int free, OpenSizes open) const {
  double closed = 0;
  for (std::size_t k = 0; k < share.size(); ++k) {
    if (((open >> k) & 1U) == 0) closed += share[k];
  }
  return closed * free;
}

NodeOffer offer_of(Machine& machine, ChipSet free, ChipSet chips, double gbps) {
  const ChipSet rest = free - chips;
  NodeOffer out;
  out.gbps = gbps;
  out.machine_gbps = machine.whole_gbps();
  out.free = free.size();
  out.left_over = rest.size();
  out.open_before = machine.open_sizes(free);
  out.open_after = machine.open_sizes(rest);
  return out;
}

}  // namespace chipweave::solver
