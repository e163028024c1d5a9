// Whether pods of several sizes can have legal chips on one machine at the same time, without
// choosing the best ones: much cheaper than Machine::choose_group().
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/solver/chips/machine.hpp"

namespace chipweave::solver {

// sizes: chips of each pod, descending, all positive. Every pod is one of several of its job unless
// it is alone and not `distributed`. Vendors' rules distinguish the chips of several pods by their
// groups only, or name whole sets, so chips of one group are tried once. steps: the budget, which
// is reduced by what the search took; nullopt: it was not enough.
std::optional<bool> splits_legally(const Machine& machine, ChipSet usable,
                                   const std::vector<int>& sizes, bool distributed,
                                   std::uint64_t& steps);

}  // namespace chipweave::solver
