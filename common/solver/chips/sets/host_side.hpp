// HostSide — how well a chip set is placed on the host: NUMA nodes, near NICs, shared PCIe uplinks.
#pragma once

#include <compare>

#include "common/solver/bandwidth/wiring.hpp"

namespace chipweave::solver {

// Lower is better, compared in this order.
struct HostSide {
  // NUMA nodes used; without peer-to-peer: the most chips on one node, since staging shares its
  // memory.
  int spread = 0;
  // Chips without a near NIC of their own, which no chip of another job uses either; 0 if the
  // machine lists no NICs.
  int without_nic = 0;
  // Pairs of chips behind one PCIe uplink, which has been seen to halve throughput: of the set, or
  // one of the set and one of another job.
  int shared_uplinks = 0;
  friend auto operator<=>(const HostSide&, const HostSide&) = default;
};

// loaded: chips of other jobs. O(chips · NICs) for the matching of chips to near NICs.
HostSide host_side(const Wiring& wiring, ChipSet set, ChipSet loaded = {});

}  // namespace chipweave::solver
