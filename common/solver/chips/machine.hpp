// Machine — the chip selector of one topology class: which chips a request gets, and how fast they
// will talk.
//
// Made once from a NodeTopology (wiring, link health, vendor rule); nodes with the same wiring
// share one Machine (machine_cache.hpp), so a cluster of 5,000 equal nodes keeps one set of tables.
// Which chips are free or healthy is part of the request, never of the Machine.
//
// Order of preference among legal sets (docs/concepts/chip-selection.md): predicted ring bandwidth
// of the set joined with `already_held` → the vendor's stock preference → what the rest can still
// offer → host side → lowest indices. Exact up to 16 chips unless the steps run out; above, see
// Choice::exact.
//
// Cost: a repeated request is one hash look-up, no allocation. A first one is a search over the
// sets that are distinguishable (interchangeable chips count once): a few ms at most on machines of
// 16 chips that are sold, and bounded by counted steps (steps.hpp), some tenths of a second, on
// any. Not thread-safe: one owner (the scheduler's loop, a CLI command).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/node_topology.hpp"

namespace chipweave::solver {

using domain::ChipSet;

struct Request {
  ChipSet usable;        // free and healthy (for distributed jobs also network-healthy) slots
  ChipSet required;      // must be part of the answer
  ChipSet already_held;  // held by pods of the same job on this machine: the best union is wanted
  int size = 1;
  bool distributed = false;  // the pod is one of several of a job; some vendor rules differ
  friend bool operator==(const Request&, const Request&) = default;
};

// Why a request does not fit; texts for people come from Machine::reason().
enum class Misfit { none, size, too_few_chips, required_unusable, required_too_many, rule };

struct Choice {
  bool fits = false;
  ChipSet chips;
  double gbps =
      0;  // predicted ring all-reduce bus bandwidth of chips ∪ already_held, GB/s; 0 for one chip
  double best_gbps =
      0;  // best a legal set of that many chips has on this machine when empty and healthy
  bool exact = true;  // false: no set can beat `bound` GB/s, but a better one than `gbps` may exist
  double bound = 0;
  Misfit why = Misfit::none;
};

// A set that lost, for explanations.
struct RunnerUp {
  ChipSet chips;
  double gbps = 0;
  std::string lost_by;  // the first criterion in which it is worse, in words
};

struct Explanation {
  Choice choice;
  std::size_t candidates = 0;  // legal sets that were considered
  std::optional<RunnerUp> best_rejected;
  std::vector<std::string> criteria;  // the chosen set's values, one line a criterion
};

// Pods of one job that share a node: one joint set, dealt out.
struct GroupChoice {
  bool fits = false;
  ChipSet chips;               // the union
  std::vector<ChipSet> parts;  // by pod, in the order asked
  double gbps = 0;             // of the union (with already_held)
  double best_gbps = 0;
  Misfit why = Misfit::none;
};

class Machine {
 public:
  explicit Machine(domain::NodeTopology topology);
  ~Machine();
  Machine(Machine&&) noexcept;
  Machine& operator=(Machine&&) noexcept;

  const domain::NodeTopology& topology() const;

  Choice choose(const Request& request);
  // All pods or none; `sizes` are the chips of each pod; the parts are legal each and disjoint.
  GroupChoice choose_group(ChipSet usable, ChipSet already_held, const std::vector<int>& sizes,
                           bool distributed);
  Explanation explain(const Request& request);

  // Whether choose() would find a set, without finding the best one. O(chips) where no rule
  // restricts the sets.
  bool fits(const Request& request) const;

  // Predicted bandwidth of exactly this set, GB/s.
  double gbps(ChipSet set);
  // Whether the vendor's rules allow the set when `usable` chips are to be had (some rules look at
  // the rest).
  bool legal(ChipSet set, ChipSet usable, bool distributed) const;
  // Sizes a legal set can have on the empty machine.
  std::vector<int> legal_sizes(bool distributed) const;
  double best_gbps(int size, bool distributed);
  // "5 chips asked, legal sizes are 1, 2, 4, 8"; empty when the choice fits.
  std::string reason(const Request& request, const Choice& choice) const;

  struct Stats {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::size_t entries = 0;
    std::uint64_t most_steps = 0;  // of one search so far (steps.hpp)
  };
  Stats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::solver
