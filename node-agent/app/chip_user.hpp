// ChipUser — a container that has a chip, or a part of one, by the kubelet's word.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::agent {

struct ChipUser {
  std::string ns;  // of the pod
  std::string pod;
  std::string container;
  friend auto operator<=>(const ChipUser&, const ChipUser&) = default;
};

// By chip: ascending, each once. A chip that no container has is not in it.
using ChipOwners = std::map<domain::ChipIndex, std::vector<ChipUser>>;

}  // namespace chipweave::agent
