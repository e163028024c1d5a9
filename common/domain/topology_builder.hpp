// TopologyBuilder — makes a NodeTopology: takes facts in any order, then checks them as a whole.
//
// Importers and profiles give chip *indices*, as their source prints them; build() assigns slots,
// fills in defaults (host paths: SYS; rates: link_rates.hpp) and reports all contradictions. One
// thread; build() may be called once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::domain {

class TopologyBuilder {
 public:
  std::string vendor;
  std::string model;
  bool p2p = true;
  std::optional<HostBandwidth>
      host_bandwidth;  // default: of the vendor's typical platform, see link_rates.hpp
  std::optional<PlacementRule> rule;  // default: derived from vendor and wiring (guess_rule)
  std::optional<SuperPod> super_pod;

  void add_chip(Chip chip);
  // A fast link or a host path between two chip indices, once or once from each side with the same
  // facts. lanes_down as in DirectLink. gbps_per_lane absent: the default of kind and model.
  void add_link(ChipIndex a, ChipIndex b, LinkKind kind, int lanes = 1,
                std::optional<double> gbps_per_lane = std::nullopt, int lanes_down = 0);
  struct Port {
    ChipIndex chip;
    int lanes = 1;
    int lanes_down = 0;
  };
  void add_switch(std::string name, LinkKind kind, std::vector<Port> ports,
                  std::optional<double> gbps_per_lane = std::nullopt);
  // paths: host path by chip index; other chips are SYS.
  void add_nic(std::string name, std::string pci, int numa, double gbps,
               std::map<ChipIndex, LinkKind> paths);
  void add_partition(std::vector<ChipIndex> chips);

  // Errors: invalid_argument with all problems, joined by "; ", each with its chips or key
  // ("links[3]").
  Result<NodeTopology> build() &&;

 private:
  struct LinkFact {
    ChipIndex a, b;
    LinkKind kind;
    int lanes;
    std::optional<double> gbps_per_lane;
    int lanes_down;
  };
  struct SwitchFact {
    std::string name;
    LinkKind kind;
    std::vector<Port> ports;
    std::optional<double> gbps_per_lane;
  };
  struct NicFact {
    Nic nic;
    std::map<ChipIndex, LinkKind> paths;
  };
  struct Problems;
  int slot(const NodeTopology& t, ChipIndex index, const std::string& where,
           Problems& problems) const;
  static void check_text(const std::string& where, const std::string& text, Problems& problems);
  static void check_numa(const std::string& where, int numa, Problems& problems);
  static void check_identities(const NodeTopology& t, Problems& problems);
  void place_chips(NodeTopology& t, Problems& problems);
  void place_links(NodeTopology& t, Problems& problems) const;
  static void place_direct_link(NodeTopology& t, const LinkFact& f, double rate, int a, int b,
                                const std::string& where, Problems& problems);
  void place_switches(NodeTopology& t, Problems& problems) const;
  void place_nics(NodeTopology& t, Problems& problems);
  void place_partitions(NodeTopology& t, Problems& problems) const;

  std::vector<Chip> chips_;
  std::vector<LinkFact> links_;
  std::vector<SwitchFact> switches_;
  std::vector<NicFact> nics_;
  std::vector<std::vector<ChipIndex>> partitions_;
};

}  // namespace chipweave::domain
