// Baselines — how other systems choose chips, as pure functions: for comparisons in the CLI and in
// benchmarks, never for placement.
#pragma once

#include <cstddef>
#include <optional>

#include "common/domain/node_topology.hpp"

namespace chipweave::solver {

// The score of a pair in NVIDIA's go-gpuallocator and HAMi: SYS 10, NODE 20, PHB 30, PXB 40, PIX
// 50, BOARD 60, plus 100 for each lane of a fast link that is up; a pair on a common switch has as
// many lanes as the smaller of its two ports.
int pair_points(const domain::NodeTopology& topology, int slot_a, int slot_b);

// The set of `size` free chips with the largest sum of pair points; among equals the lowest
// indices. nullopt: fewer free chips, or more than kMaxPairSumSets candidates (which would take
// minutes).
inline constexpr std::size_t kMaxPairSumSets = 2'000'000;
std::optional<domain::ChipSet> choose_by_pair_sum(const domain::NodeTopology& topology,
                                                  domain::ChipSet free, int size);

// The lowest free indices, as a device plugin without topology chooses. nullopt: fewer free chips.
std::optional<domain::ChipSet> choose_first_fit(domain::ChipSet free, int size);

}  // namespace chipweave::solver
