// Candidates — the sets a request may get, one of each class of interchangeable sets: of
// interchangeable chips the lowest indices are taken first.
#pragma once

#include <cstddef>
#include <vector>

#include "common/domain/objective.hpp"
#include "common/solver/bandwidth/steps.hpp"
#include "common/solver/chips/sets/rules.hpp"
#include "common/solver/chips/sets/symmetry.hpp"

namespace chipweave::solver {

struct CandidateList {
  std::vector<ChipSet> sets;  // legal, distinct, contain `required`
  bool complete = true;       // false: there may be more
  Steps steps = 0;            // taken, whatever was found
};

struct CandidateQuery {
  ChipSet usable;
  ChipSet required;
  ChipSet already_held;
  int size = 1;
  bool distributed = false;
  bool ignore_rule = false;  // any set of that size, for unions of several pods
  domain::Objective objective = domain::Objective::bandwidth;
  ChipSet loaded = {};  // of other jobs, which load the host side
};

struct CandidateLimits {
  std::size_t sets;
  Steps steps;  // legal sets can be rare among those that are tried
};
CandidateList list_candidates(const Rules& rules, const Symmetry& symmetry,
                              const CandidateQuery& query, const CandidateLimits& limits);

}  // namespace chipweave::solver
