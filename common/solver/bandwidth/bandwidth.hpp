// Bandwidth — the result of a search for rings: a rate that can be achieved, and an upper bound of
// all rates.
#pragma once

#include "common/solver/bandwidth/steps.hpp"
#include "common/solver/bandwidth/wiring.hpp"

namespace chipweave::solver {

struct Bandwidth {
  Rate rate = 0;
  Rate bound = 0;
  Steps steps = 0;  // cost of finding it; charged again when it is already known
  bool exact() const { return rate == bound; }
};

}  // namespace chipweave::solver
