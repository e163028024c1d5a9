// ChipOptions — what the pods of a gang that share a node can get there: the chip sets of which
// none is both faster inside the node and better connected to the network.
//
// On most machines of today every set of a size has the same bandwidth inside the node; the sets
// differ in the adapters that are near their chips. On others the fastest set has few adapters.
//
// Options are computed once for a machine, its adapters, its free chips and the pods' sizes.
// Exact where the sets can be listed: up to kMaxListedSets of them, and kMaxOptionSteps in all;
// otherwise the set that the node would get by itself is the only option, and exact() is false.
// Owner: one planning call; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "common/solver/bandwidth/steps.hpp"
#include "common/solver/gang/chips/node_machine.hpp"
#include "common/solver/gang/rails/adapters.hpp"
#include "common/solver/gang/rails/rate_vector.hpp"

namespace chipweave::solver {

inline constexpr std::uint64_t kMaxListedSets = 13'000;  // all halves of 16 chips
inline constexpr Steps kMaxOptionSteps = 60'000'000;

struct ChipOption {
  ChipSet chips;  // the pods' union
  RateVector rates;
};

class ChipOptions {
 public:
  // machines must outlive it.
  ChipOptions(const NodeMachines& machines, bool distributed);

  // sizes: chips of each pod; options in no order that matters. Empty: they do not fit.
  const std::vector<ChipOption>& of(const NodeMachine& node, const std::vector<int>& sizes);
  // All sets that cover `need`, where sets are listed; otherwise those of the options.
  std::vector<ChipSet> sets(const NodeMachine& node, const std::vector<int>& sizes,
                            const RateVector& need);
  RateVector rates_of(const NodeMachine& node, ChipSet chips);
  NodeRails rails_of(const NodeMachine& node, ChipSet chips) { return adapters(node).of(chips); }
  int far_chips(const NodeMachine& node, ChipSet chips) { return adapters(node).far_chips(chips); }
  int rails() const { return numbers_.count(); }
  bool exact() const { return exact_; }

 private:
  // topology, adapters that are down, chips of others that load them
  using AdaptersKey = std::tuple<const domain::NodeTopology*, std::vector<int>, std::uint64_t>;
  using Key = std::tuple<const Machine*, const NodeAdapters*, std::uint64_t, std::vector<int>>;

  const NodeAdapters& adapters(const NodeMachine& node);
  bool listable(const NodeMachine& node, int chips) const;
  void list(const NodeMachine& node, const std::vector<int>& sizes, std::vector<ChipOption>& out);
  void add(const ChipOption& option, std::vector<ChipOption>& out) const;

  bool distributed_;
  RailNumbers numbers_;
  std::map<AdaptersKey, NodeAdapters> adapters_;
  std::map<Key, std::vector<ChipOption>> known_;
  Steps steps_ = 0;
  bool exact_ = true;
};

}  // namespace chipweave::solver
