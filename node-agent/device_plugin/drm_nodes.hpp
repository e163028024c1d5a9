// The nodes of /dev/dri that belong to GPUs, by their PCI addresses, as sysfs says.
#pragma once

#include <string>
#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::device_plugin {

// By slot: "/dev/dri/card1", "/dev/dri/renderD129"; none for a chip that sysfs does not know.
std::vector<std::vector<std::string>> drm_nodes(const domain::NodeTopology& topology,
                                                const std::string& sysfs_root);

}  // namespace chipweave::device_plugin
