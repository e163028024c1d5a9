// Preservation — what the chips that stay free can still offer, so that a small request does not
// break up a good set.
//
// Two values, compared in order: the sum over sizes 2, 4, 8, … of the best predicted bandwidth of a
// legal set of that size among the remaining chips, each as a share of the best on the empty
// machine; then the sum of fast bandwidth over all remaining pairs (MAPA's "preservation", SC'21),
// which distinguishes one remaining good pair from two.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "common/solver/bandwidth/bandwidth_model.hpp"
#include "common/solver/chips/sets/rules.hpp"

namespace chipweave::solver {

class Preservation {
 public:
  Preservation(const Wiring& wiring, const Rules& rules, BandwidthModel& model);

  struct Value {
    std::int64_t offer = 0;                                         // sum of shares, in millionths
    Rate pairs = 0;                                                 // fast bandwidth over all pairs
    friend auto operator<=>(const Value&, const Value&) = default;  // higher is better
  };
  struct Answer {
    Value value;
    bool exact = true;  // false: the step budget ended the search (steps.hpp)
    Steps steps = 0;
  };
  // Steps so far for the lists of sets, which are made once.
  Steps list_steps() const { return list_steps_; }
  // Memoised by set. Above 16 chips pairs only, since the sets cannot be listed.
  Answer of(ChipSet rest);

 private:
  struct Listed {
    Rate bound;
    ChipSet set;
  };
  const std::vector<Listed>& sets_of(int size);
  // Best bandwidth over legal sets of `size` inside `pool`; 0 if there is none. Up to 16 chips.
  Rate best_within(int size, ChipSet pool, Answer& out);

  const Rules& rules_;
  BandwidthModel& model_;
  int n_;
  bool uniform_;  // any set is legal and all pairs are equal: so are all sets of one size
  std::map<int, std::vector<Listed>>
      lists_;                      // by size: legal sets of the whole machine, best bound first
  std::map<int, Bandwidth> best_;  // by size, of the whole machine; not exact: the best found
  FlatMap<std::uint64_t, Answer> memo_;
  Steps list_steps_ = 0;
};

}  // namespace chipweave::solver
