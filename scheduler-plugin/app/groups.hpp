// Groups — pods that share one set of chips on one node (ACK's gpu-topology): what each group
// holds, reserved and bound.
//
// A group's parts are holdings in the ledger: those of its members, and spare ones for members that
// are still to come. All are on one node, and every group has a member. Owner: the loop thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/solver/chips/machine.hpp"
#include "scheduler-plugin/app/observer.hpp"
#include "scheduler-plugin/model/pod.hpp"
#include "scheduler-plugin/state/ledger.hpp"

namespace chipweave::sched {

// All parts of a group as one set.
struct GroupPlan {
  std::optional<solver::Request> request;  // of the union, for explanations
  double gbps = 0;
  double best_gbps = 0;
};

struct Group {
  NodeId node = kNoNode;
  std::set<std::string> members;    // uids of pods that hold a part
  std::vector<std::string> spares;  // names of the spare parts in the ledger
  GroupPlan plan;                   // the last one
};

class Groups {
 public:
  Groups(Ledger& ledger, Observer& observer) : ledger_(ledger), observer_(observer) {}
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;

  // Null if the group holds nothing.
  const Group* find(const std::string& id) const;
  // The pod's part, or a spare part of its size, which now belongs to the pod. Null: there is none;
  // spare parts of other sizes are then released, since they no longer match the group.
  const Holding* claim(const PodRequest& pod);
  // What claim() would give; nothing changes.
  const Holding* part_for(const PodRequest& pod) const;
  // Holds the parts, the first for the pod, the others for those still to come. Preconditions:
  // claim() found nothing, the chips are free, and the node is the group's if it has members.
  void hold(const PodRequest& pod, NodeId node, std::span<const ChipSet> parts,
            const GroupPlan& plan, Clock::Steady expires);
  // A pod that was bound before and holds its part already belongs to the group. Precondition: the
  // group has no members elsewhere.
  void join(const std::string& id, const std::string& uid, NodeId node);
  void extend(const std::string& id, Clock::Steady expires);
  // A member that is gone leaves its reserved part to the next one.
  void leave(const Holding& part);
  // The ledger no longer has the part.
  void forget(const Holding& part);
  // Releases every part that is not bound.
  void dissolve(const std::string& id);
  // The node's slots now stand for other chips, so stored plans can no longer be explained.
  void forget_requests(NodeId node);

  std::string check_invariants() const;

 private:
  using Map = std::map<std::string, Group>;
  bool hold_part(Group& group, Holding part);
  void drop(const std::string& uid);
  void drop_spares(Group& group);
  void end_if_empty(Map::iterator it);
  std::string spare_name(const std::string& id);

  Ledger& ledger_;
  Observer& observer_;
  Map groups_;
  std::uint64_t spares_named_ = 0;
};

}  // namespace chipweave::sched
