// The class of a machine by its wiring, as one word for node selectors and affinities.
//
//   nvswitch-8    all chips on NVLink switches       mesh-8       NVLink from chip to chip
//   xgmi-8, hccs-8, ub-8, metaxlink-8                links of that kind connect all chips
//   sio-hccs-16   modules of two dies, connected by HCCS
//   hccs-2x4      two islands of four                mesh-4x2     bridges between pairs
//   mesh-mixed-8  islands of unequal size            pcie-8       no fast links
#pragma once

#include <string>

#include "common/domain/node_topology.hpp"

namespace chipweave::agent {

// A valid label value. Describes the wiring with everything up: a fault does not change the class.
std::string node_class(const domain::NodeTopology& topology);

}  // namespace chipweave::agent
