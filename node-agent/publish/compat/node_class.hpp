// The class of a machine by its wiring, in one word: what a node selector or an affinity can ask
// for.
//
//   nvswitch-8    all chips on NVLink switches       mesh-8       NVLink from chip to chip
//   xgmi-8, hccs-8, ub-8, metaxlink-8                that kind of link joins all chips
//   sio-hccs-16   modules of two dies, joined by HCCS
//   hccs-2x4      two islands of four                mesh-4x2     bridges between pairs
//   mesh-mixed-8  islands of unequal size            pcie-8       no fast links
#pragma once

#include <string>

#include "common/domain/node_topology.hpp"

namespace chipweave::agent {

// Always a label's value. Of the wiring as it is when everything is up: a fault does not make
// another class of a machine.
std::string node_class(const domain::NodeTopology& topology);

}  // namespace chipweave::agent
