// NodeTopology — what one machine is: chips, the links between them, switches, NICs, NUMA, legal
// partitions.
//
// An immutable value, made only by TopologyBuilder (topology_builder.hpp), which checks the
// invariants below; safe to share between threads. Bandwidths are GB/s (10^9 bytes/s) in one
// direction, as a ring of a collective library gets them, not the figures of the data sheet
// (sources: link_rates.hpp).
//
// Invariants: 1..64 chips, ascending by distinct index; at most one fast link a pair; link ends and
// switch ports name existing slots; every off-diagonal host path is one of BOARD…SYS and the matrix
// is symmetric.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/chip_set.hpp"
#include "common/domain/link.hpp"
#include "common/domain/placement_rule.hpp"

namespace chipweave::domain {

// The number that the vendor's tool prints for a chip; neither a slot nor a rank.
struct ChipIndex {
  int value = 0;
  friend constexpr auto operator<=>(ChipIndex, ChipIndex) = default;
};

enum class Health { healthy, network_unhealthy, unhealthy };

struct Chip {
  ChipIndex index;
  std::string id;  // stable identity: "GPU-…" uuid, "Ascend910-3", or "" when the source has none
  std::string model;
  std::string pci;  // "0000:04:00.0", lower case; empty if unknown
  int numa = -1;    // -1: unknown
  std::uint64_t memory_bytes = 0;
  std::vector<std::string> device_ips;  // of its own ports (Ascend RoCE)
  std::optional<int> physical_id;
  std::optional<int> logical_id;
  std::optional<std::uint32_t> super_device_id;
  Health health = Health::healthy;
};

// A fast link between two chips, with the same bandwidth in both directions.
struct DirectLink {
  int a = 0;  // slot, a < b
  int b = 0;
  LinkKind kind = LinkKind::nvlink;
  int lanes = 1;
  int lanes_down = 0;  // 0..lanes
  double gbps_per_lane = 0;

  int lanes_up() const { return lanes - lanes_down; }
  double gbps() const { return lanes_up() * gbps_per_lane; }
  LinkState state() const {
    return lanes_down == 0 ? LinkState::up
                           : (lanes_up() == 0 ? LinkState::down : LinkState::degraded);
  }
};

struct SwitchPort {
  int slot = 0;
  int lanes = 1;
  int lanes_down = 0;
  int lanes_up() const { return lanes - lanes_down; }
};

// A non-blocking switch, or several that act as one; chips can have different numbers of lanes to
// it.
struct Switch {
  std::string name;
  LinkKind kind = LinkKind::nvswitch;
  double gbps_per_lane = 0;
  std::vector<SwitchPort> ports;  // ascending by slot
  ChipSet members() const;
};

struct Nic {
  std::string name;
  std::string pci;
  int numa = -1;
  double gbps = 0;              // line rate, GB/s one way; 0: unknown
  std::vector<LinkKind> paths;  // by slot: host path kind to each chip (SYS if unknown)
};

// GB/s of a host path by kind, as a ring gets it.
struct HostBandwidth {
  double board = 10;
  double pix = 10;
  double pxb = 10;
  double phb = 10;
  double node = 10;
  double sys = 5;
  double of(LinkKind kind) const;  // of a host path kind; self: 5000 (the chip's own memory)
};

struct SuperPod {
  std::string id;
  int server_index = -1;
};

class NodeTopology {
 public:
  int chip_count() const { return static_cast<int>(chips_.size()); }
  ChipSet all() const { return ChipSet::first(chip_count()); }
  const std::vector<Chip>& chips() const { return chips_; }
  const Chip& chip(int slot) const { return chips_[static_cast<std::size_t>(slot)]; }
  // O(log n); nullopt if the machine has no such chip.
  std::optional<int> slot_of(ChipIndex index) const;

  const std::vector<DirectLink>& links() const { return links_; }  // ascending by (a, b)
  const DirectLink* link(int a, int b) const;  // null if the pair has no fast link
  const std::vector<Switch>& switches() const { return switches_; }
  const std::vector<Nic>& nics() const { return nics_; }
  LinkKind host_path(int a, int b) const {
    return host_paths_[static_cast<std::size_t>(a) * chips_.size() + static_cast<std::size_t>(b)];
  }
  const HostBandwidth& host_bandwidth() const { return host_bandwidth_; }
  // False if chips cannot read each other's memory over PCIe: host paths are staged in host memory.
  bool p2p() const { return p2p_; }
  const PlacementRule& rule() const { return rule_; }
  // Where not empty, only these sets may be handed out (NVSwitch partitions in shared mode).
  const std::vector<ChipSet>& partitions() const { return partitions_; }

  const std::string& vendor() const {
    return vendor_;
  }  // "nvidia", "amd", "ascend", "metax", "" unknown
  const std::string& model() const { return model_; }
  const std::optional<SuperPod>& super_pod() const { return super_pod_; }

  ChipSet unhealthy() const;
  ChipSet network_unhealthy() const;

  // The vendor indices of a set, ascending.
  std::vector<int> indices(ChipSet set) const;
  // Takes down `lanes` more lanes of the direct link between slots a and b, at most all. False,
  // without a change, if the pair has no direct link. For what-if analysis.
  bool take_down(int a, int b, int lanes);
  // This machine with every lane up.
  NodeTopology healed() const;
  bool has_lanes_down() const;
  // This machine with other constants: `lane` gives the GB/s of one lane from the kind of its link
  // or switch and the rate so far. Rates must be above 0.
  NodeTopology with_rates(const std::function<double(LinkKind, double)>& lane,
                          const HostBandwidth& host) const;

 private:
  friend class TopologyBuilder;
  std::string vendor_;
  std::string model_;
  std::vector<Chip> chips_;
  std::vector<DirectLink> links_;
  std::vector<Switch> switches_;
  std::vector<Nic> nics_;
  std::vector<LinkKind> host_paths_;  // chip_count x chip_count, row by row
  HostBandwidth host_bandwidth_;
  bool p2p_ = true;
  PlacementRule rule_;
  std::vector<ChipSet> partitions_;
  std::optional<SuperPod> super_pod_;
};

}  // namespace chipweave::domain
