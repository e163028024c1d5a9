// GangSessions — gangs whose scheduler works in sessions (Volcano): which nodes it asks about, and
// where a session has placed their pods so far.
//
// Volcano asks about one node at a time, and takes a refusal for one pod as one for all pods of its
// role. So a pod may go to each node that the plan has for a pod of its role and size (GangPlans::
// alike_on); where a session puts it on another one than its own, the two pods change places,
// unless their indices fix their ranks.
//
// A node that Volcano rules out itself is one that it does not ask about. A round is a turn of a
// gang in a session: it begins when Volcano repeats a question about the same pod. A node of the
// plan that was not asked about in several rounds counts as ruled out for a while. Owner: the loop
// thread.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "scheduler-plugin/app/gangs/planning/gang_places.hpp"

namespace chipweave::sched {

class GangSessions : public UseCase {
 public:
  GangSessions(Core& core, GangPlaces& places) : UseCase(core), places_(places) {}

  // How many rounds in a row may lack a node.
  static constexpr int kMaxMissed = 3;
  // The same where Volcano does not look at all nodes because it has found enough.
  static constexpr int kMaxMissedSampled = 8;
  static constexpr int kSample = 100;
  static constexpr std::chrono::seconds kRuledOut{60};

  // Sees to it that the pod has its place, if its gang can be planned now: on all nodes, however
  // few a session asks about. node: one that it asks about; kNoNode: it asks about none or many.
  // Returns why it has none yet; nullopt: it has, or needs none. Cost without a plan: O(log pods),
  // and O(pods) for a round.
  std::optional<Verdict> find_place(const ClusterPod& pod, NodeId node);
  // Of these nodes, those where the pod may change places with another one of its gang, ascending.
  std::vector<NodeId> alike_among(const PodRequest& pod, std::span<const NodeId> nodes) const;
  // A session has placed the pod on the node: it changes its place with another pod's if it can.
  // Errors: conflict: it cannot be there.
  Result<void> place(const ClusterPod& pod, NodeId node);
  void taken_back(const PodRequest& pod);
  // A scheduler that binds pods itself is about to bind the pod to the node. Errors: conflict.
  Result<void> settle(const PodRequest& pod, NodeId node);
  // What settle() would give it; null: nothing of a plan. Errors: those of settle().
  Result<const Holding*> would_settle(const PodRequest& pod, NodeId node) const;

  void forget(const std::string& gang) { gangs_.erase(gang); }
  void step_down() { gangs_.clear(); }

 private:
  struct Round {
    PodKey first;                             // the pod whose questions make a round
    std::string uid;                          // its
    NodeSet about;                            // nodes of questions about it
    NodeSet seen;                             // nodes of questions about any pod
    std::set<std::string, std::less<>> wide;  // roles asked about other nodes than the pods' own
  };
  struct Of {
    Round round;
    std::map<NodeId, int> missed;               // rounds in a row
    std::map<NodeId, Clock::Steady> ruled_out;  // until then
    std::set<std::string, std::less<>> placed;  // uids
  };
  // A session asks whether the pod may go to the node. True: this began a round.
  bool begins_round(const std::string& gang, const PodRequest& pod, NodeId node);
  void end_round(const std::string& gang, Of& of);
  bool still_waits(const Round& round) const;
  // Takes the nodes out that the gang's scheduler rules out.
  void limit(const std::string& gang, NodeSet& nodes) const;
  // What the pod would hold on the node; null: it cannot be there.
  const Holding* held_there(const std::string& gang, const PodRequest& pod, NodeId node) const;
  Error refusal(const PodRequest& pod, NodeId node) const;

  GangPlaces& places_;
  std::map<std::string, Of, std::less<>> gangs_;
};

}  // namespace chipweave::sched
