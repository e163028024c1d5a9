// Candidates — the sets a request may get, one of each kind: interchangeable chips are tried lowest
// index first only.
#pragma once

#include <cstddef>
#include <vector>

#include "common/solver/rules.hpp"
#include "common/solver/symmetry.hpp"

namespace chipweave::solver {

struct CandidateList {
  std::vector<ChipSet> sets;  // legal, distinct, contain `required`
  bool complete = true;  // false: there are more than the limit; `sets` holds those found so far
};

struct CandidateQuery {
  ChipSet usable;
  ChipSet required;
  ChipSet beside;
  int size = 1;
  bool distributed = false;
  bool ignore_rule = false;  // any set of that size: unions that several pods will share
};

// More sets than this are not listed. Up to 16 chips there are never more (2^16 at most); above, a
// few thousand keep a decision below about 0.1 s. A list that stops there is completed by sets made
// directly: inside each NUMA node and over all, from the rule's groups with the fewest usable chips
// first, and by lowest index.
inline constexpr std::size_t kMaxCandidates = 4096;

CandidateList list_candidates(const Wiring& wiring, const Rules& rules, const Symmetry& symmetry,
                              const CandidateQuery& query);

}  // namespace chipweave::solver
