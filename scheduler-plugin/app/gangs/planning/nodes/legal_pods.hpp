// LegalPods — how many pods of so many chips have legal chips together on a node, by the rules of
// its vendor. Remembered by machine and free chips, since most nodes are equal. Owner: the loop
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

class LegalPods {
 public:
  // solver::kUnlimitedPods: there is no rule. free: those that they may have. chips: of each, at
  // least one.
  int on(const Node& node, ChipSet free, int chips, bool distributed);

 private:
  std::map<std::tuple<const solver::Machine*, std::uint64_t, int, bool>, int> known_;
};

}  // namespace chipweave::sched
