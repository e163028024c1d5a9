// States of built-in profiles and of plain chips, for tests of the published content.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

// A built-in profile.
NodeState profile(const std::string& name);

// Chips without links; `change` makes of each what the test needs.
NodeState chips(const std::string& vendor, const std::string& model, int count,
                const std::function<void(domain::Chip&)>& change = nullptr,
                std::optional<domain::SuperPod> super_pod = std::nullopt);

domain::Fault fault_of(int chip, const std::string& code, domain::Effect effect,
                       std::int64_t since = 1750000000000);

}  // namespace chipweave::agent
