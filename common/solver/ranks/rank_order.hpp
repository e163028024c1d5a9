// Rank order — pods that have a place, in the order in which the ring of ranks crosses the fewest
// borders: depth-first over the tree of domains, in which every domain of every level is one run.
// With k domains at a level a ring crosses at least k borders there (none if k is 1), so this order
// is best at all levels at once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace chipweave::solver {

// One pod's path, coarsest first; a missing or empty element is not known, and nothing behind it
// counts.
using RankPath = std::vector<std::string>;

// Positions of pods, in rank order. At each level the domain of the very first pod comes first, the
// others in natural order, those that are not known at the end, as one domain; equal pods keep
// their order. Cost: O(n levels log n).
std::vector<std::size_t> depth_first(std::size_t levels, const std::vector<RankPath>& pods);

// How often the ring of these pods, the last one's step to the first included, goes from one domain
// to another, a level. Domains by their whole paths.
std::vector<std::size_t> ring_crossings(std::size_t levels, const std::vector<RankPath>& pods,
                                        const std::vector<std::size_t>& order);

}  // namespace chipweave::solver
