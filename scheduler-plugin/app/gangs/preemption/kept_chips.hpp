// KeptChips — chips that are kept for a gang while the pods that hold them end: those that are free
// at once, the others as they come free, so that no other pod gets them in between. For one gang at
// a time. Each piece is a holding of its own in the ledger. Owner: the loop thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/solver/chips/machine.hpp"
#include "scheduler-plugin/app/observer.hpp"
#include "scheduler-plugin/state/ledger.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

class KeptChips {
 public:
  using ByNode = std::map<NodeId, ChipSet>;

  KeptChips(NodeTable& nodes, Ledger& ledger, Observer& observer)
      : nodes_(nodes), ledger_(ledger), observer_(observer) {}
  KeptChips(const KeptChips&) = delete;
  KeptChips& operator=(const KeptChips&) = delete;

  // From now on these are wanted; what is kept already and is not among them is given up. shown:
  // the gang for people. until: when the ledger ends what is kept by then.
  void want(const std::string& gang, PodKey shown, const ByNode& chips, Clock::Steady until);
  // Takes what is free of them, on one node or on all.
  void take(NodeId node);
  void take_all();
  // What is kept, and what is wanted beside it.
  ByNode kept() const;
  ByNode missing() const;
  // Whether all that is wanted can be had: it is healthy, and the nodes have the chips that they
  // had.
  bool usable() const;
  // Gives everything up.
  void end();

 private:
  struct Wanted {
    ChipSet chips;
    std::uint64_t life = 0;                         // Node::life
    std::shared_ptr<const solver::Machine> wiring;  // of the node
    std::vector<std::string> pieces;                // names of holdings, which may have ended
  };
  bool is_same(NodeId node, const Wanted& wanted) const;
  ChipSet kept_of(NodeId node, const Wanted& wanted) const;
  void drop(const std::vector<std::string>& pieces);
  void take(NodeId node, Wanted& wanted);

  NodeTable& nodes_;
  Ledger& ledger_;
  Observer& observer_;
  std::string gang_;
  PodKey shown_;
  Clock::Steady until_{};
  std::map<NodeId, Wanted> wanted_;
  std::uint64_t named_ = 0;
};

}  // namespace chipweave::sched
