#include "common/solver/nodes/node_offer.hpp"

#include <cmath>

namespace chipweave::solver {
namespace {

// Nodes whose offers differ by less are alike, so that there are few different offers.
constexpr double kStep = 1.0 / 256;

}  // namespace

NodeOffer offer_of(Machine& machine, ChipSet free, ChipSet chips, double gbps, const Demand& demand,
                   const Room& room, const Room& needs) {
  const ChipSet rest = free - chips;
  const double before = demand.worth(free.size(), machine.open_sizes(free), room);
  const double after = demand.worth(rest.size(), machine.open_sizes(rest), room.without(needs));
  const double unusable = before - after - (free.size() - rest.size());
  const double machine_gbps = machine.whole_gbps();
  return {gbps, machine_gbps, demand.fast_chips(machine_gbps), std::round(unusable / kStep) * kStep,
          rest.size()};
}

}  // namespace chipweave::solver
