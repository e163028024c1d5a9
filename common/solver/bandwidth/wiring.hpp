// Wiring — a machine as the bandwidth model sees it: capacities and host paths by slot, as exact
// integers.
//
// Made once per topology class from a NodeTopology. It has everything that two nodes must share to
// get the same answers and nothing else: no names, UUIDs or addresses. Rates are integers of 1e-6
// GB/s (KB/s), so that equal bandwidths compare equal.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/base/limits.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::solver {

using domain::ChipSet;

// Bandwidth in 1e-6 GB/s, one direction.
using Rate = std::int64_t;
inline Rate to_rate(double gbps) { return std::llround(gbps * 1e6); }
inline double to_gbps(Rate rate) { return static_cast<double>(rate) / 1e6; }

// One non-blocking fabric: all switches with the same members act as one (NCCL does the same with
// NVSwitches).
struct Plane {
  ChipSet members;
  std::array<Rate, limits::kMaxChips>
      egress{};  // by slot; what the chip can send into (and receive from) the plane
};

class Wiring {
 public:
  explicit Wiring(const domain::NodeTopology& topology);

  int chip_count() const { return n_; }
  // Capacity of the pair's direct link, one direction; 0 if there is none or it is down.
  Rate direct(int a, int b) const { return direct_[at(a, b)]; }
  // Direct partners with a link that is up.
  ChipSet neighbours(int a) const { return neighbours_[idx(a)]; }
  const std::vector<Plane>& planes() const { return planes_; }
  // Widest path over routed links (XGMI), third chips included; 0 if no routed path exists.
  Rate routed(int a, int b) const { return routed_[at(a, b)]; }
  // A hop over the host, staged in host memory where the machine has no peer-to-peer.
  Rate host(int a, int b) const { return host_[at(a, b)]; }
  domain::LinkKind host_kind(int a, int b) const { return host_kind_[at(a, b)]; }
  bool p2p() const { return p2p_; }
  // Rate of one chip's own PCIe port, before staging.
  Rate port() const { return port_; }

  // Groups of slots; a chip is in exactly one group of each kind.
  const std::vector<ChipSet>& numa_groups() const { return numa_groups_; }
  const std::vector<ChipSet>& uplink_groups() const {
    return uplink_groups_;
  }  // chips behind one PCIe uplink
  // Near NICs (PIX or PXB, own card): by NIC, the slots that are near it.
  const std::vector<ChipSet>& near_nics() const { return near_nics_; }

  const domain::PlacementRule& rule() const { return rule_; }
  int rule_group(int slot) const { return rule_group_[idx(slot)]; }
  int rule_position(int slot) const { return rule_position_[idx(slot)]; }
  const std::vector<ChipSet>& partitions() const { return partitions_; }  // ascending by bits

 private:
  static std::size_t idx(int a) { return static_cast<std::size_t>(a); }
  std::size_t at(int a, int b) const {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(b);
  }
  void collect_links(const domain::NodeTopology& t);
  void collect_planes(const domain::NodeTopology& t);
  void find_routes(const domain::NodeTopology& t);
  void collect_host_side(const domain::NodeTopology& t);

  int n_ = 0;
  bool p2p_ = true;
  Rate port_ = 0;
  std::vector<Rate> direct_, routed_, host_;
  std::vector<domain::LinkKind> host_kind_;
  std::vector<ChipSet> neighbours_;
  std::vector<Plane> planes_;
  std::vector<ChipSet> numa_groups_, uplink_groups_, near_nics_;
  domain::PlacementRule rule_;
  std::vector<int> rule_group_, rule_position_;
  std::vector<ChipSet> partitions_;
};

}  // namespace chipweave::solver
