// Rank order — placed pods in the order whose ring of ranks crosses the fewest borders: depth-first
// over the tree of domains, so that every domain of every level is one run of ranks. With k > 1
// domains at a level every ring crosses at least k borders there, so this order is best at all
// levels at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace chipweave::solver {

// One pod's path, coarsest first. A missing or empty element is unknown; elements after it are
// ignored.
using RankPath = std::vector<std::string>;

// The domains of pods as numbers.
struct RankDomains {
  // By pod and level; equal if and only if the whole paths are. From an unknown element on, the pod
  // is in the one domain of such pods below its parent.
  std::vector<std::vector<std::uint32_t>> of_pod;
  std::vector<std::string> names;  // by number; empty: unknown
};

RankDomains rank_domains(std::size_t levels, const std::vector<RankPath>& pods);

// 0, 1, 2, …: the order in which pods are given.
std::vector<std::size_t> as_given(std::size_t pods);

// Positions of pods, in rank order. At each level the domain of the first pod comes first, the
// others in natural order, unknown ones last as one domain; equal pods keep their order. Cost: O(n
// levels log n).
std::vector<std::size_t> depth_first(std::size_t levels, const std::vector<RankPath>& pods);

// By level, how often the ring of these pods, including the step from the last to the first, goes
// from one domain to another. Domains are compared by their whole paths.
std::vector<std::size_t> ring_crossings(std::size_t levels, const std::vector<RankPath>& pods,
                                        const std::vector<std::size_t>& order);

}  // namespace chipweave::solver
