// VerdictTable — cached verdicts of each node state on one kind of request: pods of a job request
// the same, and a binding changes only one node.
//
// A verdict is a function of the request's kind, the node's state and the estimate of what typical
// pods ask for, so it holds as long as the state's serial and the estimate's version stay. Equal
// verdicts are one entry with one number: 5,000 nodes in 1,000 states get a few dozen. Cost:
// begin() O(verdicts), and O(states) after a state was added; at() one load. Owner: the loop
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "scheduler-plugin/app/request_kind.hpp"
#include "scheduler-plugin/model/verdict.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

class VerdictTable {
 public:
  static constexpr std::uint32_t kOpen = ~std::uint32_t{0};
  // Numbers of every table.
  static constexpr std::uint32_t kUnknownNode = 0;
  static constexpr std::uint32_t kGroupElsewhere = 1;
  static constexpr std::uint32_t kBindingElsewhere = 2;
  static constexpr std::uint32_t kGangElsewhere = 3;
  static constexpr std::uint32_t kGangAlike = 4;

  explicit VerdictTable(RequestKind kind);
  const RequestKind& kind() const { return kind_; }

  // Resets the counts and drops verdicts about states that no longer exist, or all if typical pods
  // ask for something else now.
  void begin(const NodeTable& nodes, std::uint64_t demand_version);
  // What the verdicts were made with.
  std::uint64_t demand_version() const { return demand_version_; }
  // The number of the state's verdict, or kOpen.
  std::uint32_t at(StateId state) const { return by_state_[state]; }
  void learn(StateId state, std::uint32_t number) { by_state_[state] = number; }
  // The number of an equal verdict, or of this one from now on.
  std::uint32_t add(Verdict verdict);

  std::span<Verdict> verdicts() { return verdicts_; }
  std::span<const Verdict> verdicts() const { return verdicts_; }

  // For checks: whether at() is valid for the current state, and whether two verdicts are equal.
  bool knows(StateId state, const NodeTable& nodes) const;
  static bool same(const Verdict& a, const Verdict& b) { return key_of(a) == key_of(b); }

 private:
  using Key = std::tuple<Cause, Remedy, solver::NodeOffer, double, std::array<int, 3>, std::string>;
  static Key key_of(const Verdict& v) {
    return {v.cause, v.remedy, v.offer, v.best_gbps, {v.far, v.other_leaves, v.breaks}, v.reason};
  }
  void clear();

  RequestKind kind_;
  std::vector<Verdict> verdicts_;
  std::map<Key, std::uint32_t> numbers_;
  std::vector<std::uint32_t> by_state_;
  std::vector<std::uint64_t> serials_;  // by state, of what by_state_ was learned from
  std::uint64_t last_serial_ = 0;
  std::uint64_t demand_version_ = 0;
};

}  // namespace chipweave::sched
