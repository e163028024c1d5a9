// Bandwidth — what a search for rings found: a rate that surely works, and a bound that none
// exceeds.
#pragma once

#include "common/solver/bandwidth/steps.hpp"
#include "common/solver/bandwidth/wiring.hpp"

namespace chipweave::solver {

struct Bandwidth {
  Rate rate = 0;
  Rate bound = 0;
  Steps steps = 0;  // that finding it takes; charged again when it is already known
  bool exact() const { return rate == bound; }
};

}  // namespace chipweave::solver
