// Preservation — what the chips that stay free can still offer, so that a small request does not
// break a good set.
//
// Two figures, compared in order: the sum over sizes 2, 4, 8, … of the best predicted bandwidth a
// legal set of that size still has among the rest, each as a share of the best on the empty
// machine; then the fast bandwidth summed over all pairs of the rest (MAPA's "preservation",
// SC'21), which tells one remaining good pair from two.
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
    bool exact = true;  // false: cut short (steps.hpp), the best found so far counted
    Steps steps = 0;
  };
  // Memoised by set up to 16 chips; above, pairs only (the sets of 8 of 64 cannot be listed).
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
  bool alike_;  // any set is legal and every pair is worth the same: sets of one size are equal
  std::map<int, std::vector<Listed>>
      lists_;                      // by size: legal sets of the whole machine, best bound first
  std::map<int, Bandwidth> best_;  // by size, of the whole machine; not exact: the best found
  FlatMap<std::uint64_t, Answer> memo_;
};

}  // namespace chipweave::solver
