// Hamiltonian cycles on at most 16 chips: cheapest by exact dynamic programme, a good one quickly,
// and existence.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/solver/ring_graph.hpp"
#include "common/solver/steps.hpp"

namespace chipweave::solver {

using Ring = std::vector<int>;  // local chips in ring order
using CostMatrix =
    std::array<std::array<double, kMaxRingChips>, kMaxRingChips>;  // infinity: no hop; symmetric

double cycle_cost(const Ring& ring, const CostMatrix& cost);

class HamiltonSolver {
 public:
  explicit HamiltonSolver(int n) : n_(n) {}

  // The cheapest Hamiltonian cycle; nullopt if there is none. O(2^n n²) time, 2^(n-1) n doubles of
  // scratch kept.
  std::optional<Ring> cheapest_cycle(const CostMatrix& cost);
  // Nearest neighbour from every start, improved by 2-opt: not always the cheapest, not always
  // found. O(n⁴) at most.
  std::optional<Ring> quick_cycle(const CostMatrix& cost);
  Steps steps() const { return steps_; }  // taken so far by all calls

 private:
  int n_;
  std::vector<double> table_;
  Steps steps_ = 0;
};

// Whether the graph with these adjacency bits has a Hamiltonian cycle (n >= 3). O(2^n n) bit
// operations at worst.
bool has_hamiltonian_cycle(int n, const std::array<std::uint32_t, kMaxRingChips>& adjacent);

}  // namespace chipweave::solver
