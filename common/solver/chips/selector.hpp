// Selector — the search behind Machine: ranks all sets that differ by all criteria.
//
// Criteria in order: for an objective other than bandwidth what the set ∪ already_held is worth to
// it; bandwidth of set ∪ already_held, stock preference, preservation of the rest,
// host side, lowest indices. Sets are evaluated in the order of their bandwidth bounds, until no
// bound can reach the best found or the step budget is exhausted (steps.hpp).
#pragma once

#include <functional>
#include <vector>

#include "common/solver/bandwidth/bandwidth_model.hpp"
#include "common/solver/chips/sets/candidates.hpp"
#include "common/solver/chips/sets/host_side.hpp"
#include "common/solver/chips/sets/preservation.hpp"
#include "common/solver/chips/sets/rules.hpp"
#include "common/solver/chips/sets/symmetry.hpp"

namespace chipweave::solver {

// A set with its value in every criterion.
struct RankedCandidate {
  ChipSet chips;
  Rate goal = 0;  // by the objective, more is better; 0 for bandwidth
  Rate rate = 0;
  std::int64_t preference = 0;
  Preservation::Value rest;
  HostSide host;
};

// The first criterion in which two sets differ, and whether the first is better in it.
enum class Criterion { objective, bandwidth, preference, preservation, host, indices };
struct Comparison {
  Criterion by = Criterion::indices;
  bool first_better = true;
};
Comparison compare(const RankedCandidate& a, const RankedCandidate& b);

class Selector {
 public:
  explicit Selector(const domain::NodeTopology& topology);
  Selector(const Selector&) = delete;
  Selector& operator=(const Selector&) = delete;

  struct Outcome {
    std::vector<RankedCandidate>
        best;                    // best first, at most as many as wanted; empty: nothing fits
    std::size_t candidates = 0;  // sets that were considered
    bool exact = true;
    Rate bound = 0;
    Steps steps = 0;
  };
  // The best `wanted` sets; interchangeable sets count once. If one is wanted and one is fastest,
  // its later criteria are left empty.
  Outcome best(const CandidateQuery& query, std::size_t wanted = 1);

  // Sets for several pods together (no rule on the union), best first: by bandwidth, the fastest
  // also by the other criteria; sets beyond the step budget come last, by bound. Ends when `take`
  // returns true. Returns the steps it took, without those of `take`.
  Steps unions_best_first(CandidateQuery query, const std::function<bool(ChipSet)>& take);
  // The same out of these sets.
  Steps sets_best_first(const CandidateList& list, const CandidateQuery& query,
                        const std::function<bool(ChipSet)>& take);
  // Some legal set; empty if there is none.
  ChipSet any_set(const CandidateQuery& query) const;

  const Wiring& wiring() const { return wiring_; }
  const Rules& rules() const { return rules_; }
  BandwidthModel& model() { return model_; }
  // Best bandwidth of a legal set of that size on the empty machine.
  Rate ceiling(int size, bool distributed);
  const StepLimits& limits() const { return limits_; }
  // What a set is worth to an objective, more is better: for bandwidth model().of(set); for the
  // others exact, O(n²).
  Bandwidth rating(ChipSet set, domain::Objective objective);
  // Steps so far for what is computed once a machine: ceilings, lists of good sets.
  Steps table_steps() const { return ceiling_steps_ + preservation_.list_steps(); }

 private:
  struct Rated {
    Rate rate;  // or its bound
    std::size_t at;
  };
  struct Search {
    std::vector<Rated> rated;  // evaluated, best first
    std::vector<Rated> left;   // not evaluated, best bound first
    Rate bound = 0;            // no set is faster
    Steps steps = 0;
    bool complete = true;  // nothing left can be among the wanted
  };
  CandidateList candidates(const CandidateQuery& query) const;
  Search search(const CandidateList& list, const CandidateQuery& query, std::size_t wanted,
                Steps limit);
  RankedCandidate evaluate(ChipSet chips, const CandidateQuery& query, Outcome& out);
  // The best `most` of equally fast sets, best first; sets beyond the limit are dropped.
  std::vector<RankedCandidate> rank_ties(const std::vector<ChipSet>& ties,
                                         const CandidateQuery& query, std::size_t most, Steps limit,
                                         Outcome& out);
  // Upper bound of rating().
  Rate rating_bound(ChipSet set, domain::Objective objective) const;
  Steps rating_bound_steps(ChipSet set, domain::Objective objective) const;
  Rate goal(ChipSet set, domain::Objective objective) const;
  // Upper bound of every set of `size` chips out of `pool`.
  Rate size_bound(int size, ChipSet pool) const;

  const StepLimits& limits_;
  Wiring wiring_;
  Rules rules_;
  Symmetry symmetry_;
  BandwidthModel model_;
  Preservation preservation_;
  FlatMap<std::uint64_t, Rate> ceilings_;
  Steps ceiling_steps_ = 0;
};

}  // namespace chipweave::solver
