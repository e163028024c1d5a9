// Ledger — which chips belong to which pod: bound ones, and reservations between prioritize and
// bind.
//
// Owner: the loop thread. A reservation ends with confirm(), drop() or its time to live (expire()).
// Invariant: on each node the chips of different holdings are disjoint, and their union is what the
// node table calls taken; check_invariants() verifies it; debug builds run it after every
// operation.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/result.hpp"
#include "scheduler-plugin/model/pod.hpp"
#include "scheduler-plugin/state/node_table.hpp"
#include "scheduler-plugin/state/pod_record.hpp"

namespace chipweave::sched {

struct Holding {
  std::string uid;  // the pod's; for a spare part: a name that no pod can have
  PodKey key;
  NodeId node = kNoNode;
  ChipSet chips;
  bool bound = false;       // or being bound: it does not expire
  Clock::Steady expires{};  // only for a reservation
  std::string job;          // identity of the pod's job; empty: none
  std::string group;        // id of the group it belongs to; empty: none
  bool spare = false;       // a part of the group that no pod has claimed
  // A reservation of the chips that are free so far of those that the pod will get (Nominations).
  bool nominated = false;
  // A reservation by the plan of its gang (GangPlans).
  bool planned = false;
  // Vendor indices of chips that the node's agent no longer reports. The holder gets them back if
  // they reappear.
  std::vector<int> unreported;
  // A bound pod whose chips are unknown (another scheduler bound it): `chips` is a guess, which
  // yields to pods that are known to have them.
  bool assumed = false;
  int unplaced = 0;  // for an assumed one: further chips that could not be assigned
  // The pod uses parts of chips, whose other parts other pods may use. Which pods share is unknown,
  // so each takes chips of its own as long as the node has any, and none of them is offered.
  bool parts = false;
  // The parts are MIG instances, which are on GPUs in MIG mode.
  bool mig = false;

  int count() const { return chips.size() + static_cast<int>(unreported.size()) + unplaced; }
  // How many of its chips are unknown.
  int unattributed() const { return !assumed ? 0 : parts ? chips.size() : count(); }
};

class Ledger {
 public:
  // pods, if any, receives an event when a reservation of a pod is made and when it ends.
  explicit Ledger(NodeTable& nodes, PodRecords* pods = nullptr) : nodes_(nodes), pods_(pods) {}
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  const Holding* find(std::string_view uid) const;
  // Holdings on a node, oldest first.
  const std::vector<const Holding*>& on(NodeId node) const;

  // Takes the chips; health is the caller's concern. Errors: conflict, if a chip is taken or the
  // uid already holds chips.
  Result<void> hold(Holding holding);
  // The same for chips that are known to be free. Throws std::logic_error if they are not.
  void hold_free(Holding holding);
  // Turns a reservation into a bound holding, and back into an ordinary reservation. Throws
  // std::logic_error if there is none.
  void confirm(std::string_view uid);
  void reopen(std::string_view uid, Clock::Steady expires);
  // Another guess for an assumed holding, whose count stays. Preconditions: the chips are free or
  // its own, and not more than its count.
  void assume(std::string_view uid, ChipSet chips);
  // It is an ordinary reservation from now on.
  void extend(std::string_view uid, Clock::Steady expires);
  // Transfers a holding: from a group to one of its pods, or back. Preconditions: `from` exists and
  // is not bound, `to.uid` does not exist.
  struct Holder {
    std::string uid;
    PodKey key;
    std::string job;
    bool spare = false;
  };
  void hand_over(std::string_view from, Holder to);
  // Gives the chips back; false if there is no such holding.
  bool drop(std::string_view uid);
  // Drops the reservations whose lifetime is over and returns them.
  std::vector<Holding> expire(Clock::Steady now);
  // After a node was reported with other chips (NodeTable::Reported::old_indices): holdings keep
  // the chips with their indices, as far as these still exist. Returns the uids of reservations
  // that lost one.
  std::vector<std::string> rebase(NodeId node, const std::vector<int>& old_indices);
  // Chips that pods of the job hold, by node.
  using ByNode = std::unordered_map<NodeId, ChipSet>;
  const ByNode& of_job(const std::string& job) const;

  // Rises when a holding ends.
  std::uint64_t released() const { return released_; }
  std::size_t bound() const { return holdings_.size() - reservations_.size(); }
  std::size_t reserved() const { return reservations_.size(); }
  // "" if all invariants hold, else the first violation.
  std::string check_invariants() const;

 private:
  const Holding& put(Holding holding);
  Holding& held_by(std::string_view uid);
  void forget_reservation(const Holding& holding);
  void add_to_job(const Holding& holding);
  void take_from_job(const Holding& holding);
  void notify(const Holding& reservation, PodEvent event);
  void check() const;

  NodeTable& nodes_;
  PodRecords* pods_;
  std::unordered_map<std::string_view, std::unique_ptr<Holding>> holdings_;  // by the uid in it
  std::vector<std::vector<const Holding*>> on_;
  std::multimap<Clock::Steady, std::string> reservations_;
  std::unordered_map<std::string, ByNode> by_job_;
  std::uint64_t released_ = 0;
};

}  // namespace chipweave::sched
