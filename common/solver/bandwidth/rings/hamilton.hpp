// Hamiltonian cycles on at most 16 chips: the cheapest (exact), good ones (heuristic), existence.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/solver/bandwidth/rings/ring_graph.hpp"
#include "common/solver/bandwidth/rings/tour_search.hpp"
#include "common/solver/bandwidth/steps.hpp"

namespace chipweave::solver {

using CostMatrix =
    std::array<std::array<double, kMaxRingChips>, kMaxRingChips>;  // symmetric; infinity: no hop

double cycle_cost(const Ring& ring, const CostMatrix& cost);

class HamiltonSolver {
 public:
  explicit HamiltonSolver(int n) : n_(n) {}

  // Distinct Hamiltonian cycles that cost less than `below`, cheapest first, at most one for each
  // chip that can precede chip 0; empty if there is none. Held and Karp's dynamic programme over
  // subsets (1962), pruned by their 1-tree bound (1970): O(2^n n²) time in the worst case, usually
  // far less; keeps 2^(n-1) n doubles of scratch.
  std::vector<Ring> cheap_cycles(const CostMatrix& cost, double below);
  // Cycles that cost less than `below`, cheapest first, found by nearest neighbour from every
  // start, 2-opt and, where that is not enough, perturbation. Empty does not mean that there are
  // none. About O(n⁴).
  std::vector<Ring> quick_cycles(const CostMatrix& cost, double below);
  Steps steps() const { return steps_; }  // of all calls so far

 private:
  Ring greedy_cycle(const CostMatrix& cost, int start);
  void improve(Ring& ring, const CostMatrix& cost);
  double perturb(Ring& ring, const CostMatrix& cost, double below);
  struct OneTree;
  OneTree least_one_tree(const CostMatrix& cost, const std::array<double, kMaxRingChips>& penalty);
  struct Penalties;
  Penalties best_penalties(const CostMatrix& cost, double below);
  std::vector<Ring> search_subsets(const CostMatrix& cost, double below);
  std::vector<Ring> close_paths(const CostMatrix& cost, double below) const;
  Ring path_back_from(const CostMatrix& cost, int last) const;
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
