// A machine for tests of the DRA driver: eight GPUs in two NVLink islands of four, and a host with
// their device nodes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/domain/topology_builder.hpp"
#include "node-agent/app/node_state.hpp"
#include "tests/support/fake_host.hpp"

namespace chipweave::agent::dra {

inline const std::string kDriver = "gpu.chipweave.dev";
inline const std::string kNode = "n1";

NodeState two_islands(const std::set<int>& unhealthy = {});
domain::Chip bare_chip(int index);

}  // namespace chipweave::agent::dra
