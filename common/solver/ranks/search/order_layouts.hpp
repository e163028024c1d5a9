// Layouts — arrangements to start from: the positions of a job's ranks ordered by their digits, any
// digit first, with pods laid along them domain by domain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/solver/ranks/search/pod_places.hpp"

namespace chipweave::solver {

// With digits of 4 data ranks and 2 stages, the data digit first is 0 1 2 3 4 5 6 7; the stage
// digit first, so that the members of one pipeline are neighbours, is 0 4 1 5 2 6 3 7.
struct Layout {
  std::vector<std::uint32_t> positions;
  std::vector<std::size_t> units;  // sizes of the blocks of one, two … digits, smallest first
};

// Digits in any order, and tiles: a part of each digit before the rest of any. In the example,
// parts of 2 and 2 give 0 1 4 5 2 3 6 7. At most a hundred; the first keeps the positions. axes: as
// in PodTraffic.
std::vector<Layout> order_layouts(const std::vector<std::size_t>& axes);

// The class of every pod, in an order of blocks of `unit`. Each domain first fills as many blocks
// as it can by itself; the leftovers of siblings are combined, whole leftovers first, and the rest
// goes up to the next domain. unit 1: depth-first. Precondition: unit divides the number of pods.
// Cost: O(pods + domains log domains).
std::vector<PodClass> laid_in_blocks(const PodPlaces& places, std::size_t unit);

// Assigns the k-th of `classes` to the layout's k-th position.
Arrangement arranged(const Layout& layout, const std::vector<PodClass>& classes);

}  // namespace chipweave::solver
