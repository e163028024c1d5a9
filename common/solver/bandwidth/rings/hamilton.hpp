// Hamiltonian cycles on at most 16 chips: the cheapest exactly, good ones quickly, and existence.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/solver/bandwidth/rings/ring_graph.hpp"
#include "common/solver/bandwidth/steps.hpp"

namespace chipweave::solver {

using Ring = std::vector<int>;  // local chips in ring order
using CostMatrix =
    std::array<std::array<double, kMaxRingChips>, kMaxRingChips>;  // infinity: no hop; symmetric

double cycle_cost(const Ring& ring, const CostMatrix& cost);

class HamiltonSolver {
 public:
  explicit HamiltonSolver(int n) : n_(n) {}

  // Different Hamiltonian cycles that cost less than `below`, the cheapest one first and at most
  // one for each chip that can come before chip 0. Empty: there is none. Held and Karp's programme
  // over subsets (1962), cut by the bounds of their 1-trees (1970): O(2^n n²) time at worst, often
  // far less; 2^(n-1) n doubles of scratch are kept.
  std::vector<Ring> cheap_cycles(const CostMatrix& cost, double below);
  // Nearest neighbour from every start, improved by 2-opt and, if none is good enough, by random
  // steps (double bridges): those that cost less than `below`, the cheapest first. Empty: none was
  // found, though there may be some. O(n⁴) or so.
  std::vector<Ring> quick_cycles(const CostMatrix& cost, double below);
  Steps steps() const { return steps_; }  // taken so far by all calls

 private:
  Ring greedy_cycle(const CostMatrix& cost, int start);
  double kick(Ring& ring, const CostMatrix& cost, double below);
  struct Toll;
  Toll least_tolls(const CostMatrix& cost, double below);
  std::vector<Ring> walk_subsets(const CostMatrix& cost, double below);
  Ring walk_back(const CostMatrix& cost, int last) const;
  std::size_t cell(std::size_t mask, int last) const {
    return mask * static_cast<std::size_t>(n_ - 1) + static_cast<std::size_t>(last);
  }

  int n_;
  // By mask of chips 1.. (bit i-1): where a path from chip 0 over exactly these chips can end, and
  // by cell() what the cheapest such path costs.
  std::vector<std::uint32_t> ends_;
  std::vector<double> paths_;
  Steps steps_ = 0;
};

// Whether the graph with these adjacency bits has a Hamiltonian cycle (n >= 3). O(2^n n) bit
// operations at worst.
bool has_hamiltonian_cycle(int n, const std::array<std::uint32_t, kMaxRingChips>& adjacent);

}  // namespace chipweave::solver
