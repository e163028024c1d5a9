// HostSide — how well a chip set sits on the host: NUMA nodes, NICs near its chips, PCIe uplinks
// that it shares.
#pragma once

#include <compare>

#include "common/solver/bandwidth/wiring.hpp"

namespace chipweave::solver {

// Lower is better, compared in this order.
struct HostSide {
  int spread = 0;  // NUMA nodes touched; without peer-to-peer: most chips on one node (staging
                   // shares its memory)
  int without_nic =
      0;  // chips that find no near NIC of their own (0 where the machine lists no NICs)
  int shared_uplinks = 0;  // pairs of chips behind one PCIe uplink: sharing one root has halved
                           // throughput in the field
  friend auto operator<=>(const HostSide&, const HostSide&) = default;
};

// O(chips · NICs) for the matching of chips to near NICs.
HostSide host_side(const Wiring& wiring, ChipSet set);

}  // namespace chipweave::solver
