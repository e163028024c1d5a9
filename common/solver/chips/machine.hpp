// Machine — the chip selector of one topology class: which chips a request gets, and how fast they
// will communicate.
//
// Made once from a NodeTopology (wiring, link health, vendor rule). Nodes with the same wiring
// share one Machine (machine_cache.hpp), so a cluster of 5,000 equal nodes keeps one set of tables.
// Which chips are free or healthy is part of the request, never of the Machine.
//
// Preference among legal sets (docs/concepts/chip-selection.md): the objective, where it is not
// bandwidth; predicted ring bandwidth of the
// set together with `already_held` → the vendor's stock preference → what the remaining chips can
// still offer → host side → lowest indices. Exact up to 16 chips within the step limits; above, see
// Choice::exact.
//
// Cost: a repeated request is one hash look-up without allocation. A new one is a search over the
// sets that differ (interchangeable chips count once): at most a millisecond on machines that are
// on the market, and on any machine bounded by counted steps (steps.hpp): 50 ms up to 16 chips, 250
// ms above. Not thread-safe: one owner (the scheduler's loop, a CLI command).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/node_topology.hpp"
#include "common/domain/objective.hpp"
#include "common/solver/bandwidth/bandwidth.hpp"
#include "common/solver/bandwidth/pair_paths.hpp"
#include "common/solver/bandwidth/wiring.hpp"

namespace chipweave::solver {

using domain::ChipSet;

struct Request {
  ChipSet usable;        // free and healthy slots; for distributed jobs also network-healthy
  ChipSet required;      // must be chosen
  ChipSet already_held;  // by pods of the same job; the best union with these is chosen
  int size = 1;
  bool distributed = false;  // the job has several pods; some vendor rules differ
  domain::Objective objective = domain::Objective::bandwidth;
  // Chips of other jobs: among equally fast sets those that share no network adapter and no PCIe
  // uplink with them are better. None of them may be usable.
  ChipSet loaded = {};
  friend bool operator==(const Request&, const Request&) = default;
};

// Chips for the pods of one job that share a node: all pods or none.
struct GroupRequest {
  ChipSet usable;           // as in Request; slots in `already_held` are ignored
  ChipSet already_held;     // by other pods of the job
  std::vector<int> sizes;   // chips of each pod
  bool distributed = true;  // the job has more than one pod
  domain::Objective objective = domain::Objective::bandwidth;
  ChipSet loaded = {};  // as in Request
};

// Which sizes of requests find a legal set among some chips: bit k stands for 2^k chips, up to
// kMaxOpenSize.
using OpenSizes = std::uint8_t;
inline constexpr int kMaxOpenSize = 8;

// Why a request does not fit; Machine::reason() has the message.
enum class Misfit { none, size, too_few_chips, required_unusable, required_too_many, rule };

struct Choice {
  bool fits = false;
  ChipSet chips;
  double gbps = 0;       // predicted bus bandwidth of chips ∪ already_held, GB/s; 0 for one chip
  double best_gbps = 0;  // for the best legal set of that size on the empty, healthy machine
  // False: a set faster than `gbps`, up to `bound`, may exist; or one that is better by another
  // objective.
  bool exact = true;
  double bound = 0;
  Misfit why = Misfit::none;
};

// The best set that was not chosen.
struct RunnerUp {
  ChipSet chips;
  double gbps = 0;
  std::string lost_by;  // message: the first criterion in which it is worse
};

struct Explanation {
  Choice choice;
  std::size_t candidates = 0;  // legal sets that were considered
  std::optional<RunnerUp> best_rejected;
  std::vector<std::string> criteria;  // values of the chosen set, one line per criterion
};

// A joint set for the pods of a GroupRequest, and its split.
struct GroupChoice {
  bool fits = false;
  ChipSet chips;               // the union
  std::vector<ChipSet> parts;  // by pod, in the order of the request
  double gbps = 0;             // for the union with already_held
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
  // The parts are disjoint, and each is legal.
  GroupChoice choose_group(const GroupRequest& pods);
  // The same out of these unions only, which are sets of usable chips as large as the pods
  // together. Not memoised. O(unions), and a search over them.
  GroupChoice choose_among(const std::vector<ChipSet>& unions, const GroupRequest& pods);
  // Does not fit if the request names slots that the machine does not have.
  Explanation explain(const Request& request);

  // Whether choose() finds a set. O(chips) where no rule restricts the sets.
  bool fits(const Request& request) const;

  // Predicted bandwidth of exactly this set, GB/s.
  double gbps(ChipSet set);
  // The same, as the solver counts it, with what it cost.
  Bandwidth bandwidth(ChipSet set);
  // Predicted bus bandwidth of an all-to-all inside the set, GB/s (pair_paths.hpp).
  double all_to_all_gbps(ChipSet set) const;
  Distance distance(ChipSet set) const;
  // No bandwidth of the set exceeds it. O(chips · neighbours), not memoised.
  Rate upper_bound(ChipSet set) const;
  const Wiring& wiring() const;
  // Whether the vendor's rules allow the set out of `usable` (some rules depend on the rest).
  bool legal(ChipSet set, ChipSet usable, bool distributed) const;
  // Which sizes fit among these chips, each on its own. O(1) without a rule; with one a look-up,
  // and the first time for a set as much as fits() for each size.
  OpenSizes open_sizes(ChipSet usable);
  // Predicted bandwidth of all chips together, as the machine is.
  double whole_gbps();
  // Sizes of legal sets on the empty machine, ascending.
  std::vector<int> legal_sizes(bool distributed) const;
  // GB/s of the best legal set of that size on the empty, healthy machine; 0 if none is legal.
  double best_gbps(int size, bool distributed);
  // The same for the size of `set`, but at least gbps(set): the chips of several pods together need
  // not be a legal size.
  double best_gbps(ChipSet set, bool distributed);
  // "5 chips asked, legal sizes are 1, 2, 4, 8"; empty if the choice fits.
  std::string reason(const Request& request, const Choice& choice) const;

  struct Stats {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::size_t entries = 0;
    // The most steps of one decision so far, tables that it filled included (steps.hpp).
    std::uint64_t most_steps = 0;
  };
  Stats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::solver
