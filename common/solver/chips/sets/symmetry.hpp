// Symmetry — which chips of a machine are interchangeable, so that equivalent sets are evaluated
// once.
//
// Twins are chips that can be swapped without changing anything a decision depends on. Classes of
// twins that can be swapped as wholes (the PCIe pairs of one socket, the cards of one half) form a
// family. Computed once per wiring: at worst O(chips⁴) word operations, milliseconds for 64 chips.
#pragma once

#include <vector>

#include "common/solver/bandwidth/wiring.hpp"

namespace chipweave::solver {

class Symmetry {
 public:
  explicit Symmetry(const Wiring& wiring);

  struct TwinClass {
    ChipSet members;
    int family = 0;  // classes of one family are interchangeable as wholes
  };
  // Ascending by lowest member.
  const std::vector<TwinClass>& classes() const { return classes_; }

 private:
  bool swappable(const std::vector<int>& image) const;

  const Wiring& wiring_;
  std::vector<ChipSet> rule_groups_;
  std::vector<TwinClass> classes_;
};

}  // namespace chipweave::solver
