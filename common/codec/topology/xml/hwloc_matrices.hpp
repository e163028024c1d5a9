// The distance matrices of an hwloc file that hold fast links. Included by hwloc_*.cpp only.
#pragma once

#include <map>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/topology/hardware/directed_lanes.hpp"
#include "common/codec/topology/xml/hwloc_tree.hpp"
#include "common/codec/topology/xml/xml_document.hpp"

namespace chipweave::codec {

struct HwlocLinks {
  // By position in HwlocMachine::gpus.
  std::vector<DirectedLanes::Agreed> nvlink;
  std::vector<DirectedLanes::Agreed> xgmi;
  std::map<int, int> switch_lanes;
};

// NVLinkBandwidth: MB/s one way, summed over the links of a pair. XGMIBandwidth: the same, unless
// it has one value for every pair of more chips than a chip has links for; then it lists reachable
// pairs, not direct links, and only the dies of one package are linked. XGMIHops is not used: it is
// 1 for indirect pairs too. Adds warnings to the machine.
Result<HwlocLinks> read_hwloc_links(const XmlDocument& document, HwlocMachine& machine);

}  // namespace chipweave::codec
