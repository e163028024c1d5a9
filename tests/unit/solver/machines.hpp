// Machines for solver tests: built-in profiles and seeded random hybrids.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::test {

domain::NodeTopology profile(const std::string& name);
// Names of the profiles with at most `chips` chips.
std::vector<std::string> profile_names(int chips);
// A machine of `chips` chips with a random mix of links, switches and host paths; `seed` decides
// everything.
domain::NodeTopology random_machine(int chips, unsigned seed);
// The machine with each direct link losing some or all lanes with probability about one in four.
domain::NodeTopology with_random_faults(domain::NodeTopology machine, unsigned seed);

}  // namespace chipweave::test
