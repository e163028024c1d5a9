// Candidates — the sets a request may get, one of each class of interchangeable sets: of
// interchangeable chips the lowest indices are taken first.
#pragma once

#include <cstddef>
#include <vector>

#include "common/solver/chips/sets/rules.hpp"
#include "common/solver/chips/sets/symmetry.hpp"

namespace chipweave::solver {

struct CandidateList {
  std::vector<ChipSet> sets;  // legal, distinct, contain `required`
  bool complete = true;       // false: there are more than the limit
};

struct CandidateQuery {
  ChipSet usable;
  ChipSet required;
  ChipSet already_held;
  int size = 1;
  bool distributed = false;
  bool ignore_rule = false;  // any set of that size, for unions of several pods
};

// Lists at most `limit` sets.
CandidateList list_candidates(const Wiring& wiring, const Rules& rules, const Symmetry& symmetry,
                              const CandidateQuery& query, std::size_t limit);

}  // namespace chipweave::solver
