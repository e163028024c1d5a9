// Selector — the search behind Machine: all criteria over all distinguishable sets, best first.
//
// Criteria in order: bandwidth of set ∪ beside, stock preference, preservation of the rest, host
// side, lowest indices. Bandwidths are evaluated best bound first and only until no bound can reach
// the best found.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/solver/bandwidth.hpp"
#include "common/solver/candidates.hpp"
#include "common/solver/host_side.hpp"
#include "common/solver/preservation.hpp"
#include "common/solver/rules.hpp"
#include "common/solver/symmetry.hpp"

namespace chipweave::solver {

// A set with everything it is judged by.
struct Judged {
  ChipSet chips;
  Rate rate = 0;
  std::int64_t preference = 0;
  Preservation::Value rest;
  HostSide host;
};

// The first criterion in which two judged sets differ, and which is better there.
enum class Criterion { bandwidth, preference, preservation, host, indices };
struct Comparison {
  Criterion by = Criterion::indices;
  bool first_better = true;
};
Comparison compare(const Judged& a, const Judged& b);

class Selector {
 public:
  explicit Selector(const domain::NodeTopology& topology);
  Selector(const Selector&) = delete;
  Selector& operator=(const Selector&) = delete;

  struct Outcome {
    std::optional<Judged> best;
    std::size_t candidates = 0;
    bool exact = true;
    Rate bound = 0;
  };
  Outcome best(const CandidateQuery& query);
  // The best set and the one that comes next (of another kind: interchangeable sets count once).
  std::vector<Judged> best_two(const CandidateQuery& query, std::size_t& candidates);

  // Sets for several pods together (no rule on the union), best first: by bandwidth, the fastest
  // also by the other criteria.
  std::vector<ChipSet> unions_best_first(CandidateQuery query);

  const Wiring& wiring() const { return wiring_; }
  const Rules& rules() const { return rules_; }
  BandwidthModel& model() { return model_; }
  // Best bandwidth of a legal set of that size on the empty machine.
  Rate ceiling(int size, bool distributed);
  Judged judge(ChipSet chips, const CandidateQuery& query);

 private:
  // No set of `size` chips out of `pool` can carry more.
  Rate size_bound(int size, ChipSet pool) const;

  Wiring wiring_;
  Rules rules_;
  Symmetry symmetry_;
  BandwidthModel model_;
  Preservation preservation_;
  FlatMap<std::uint64_t, Rate> ceilings_;
};

}  // namespace chipweave::solver
