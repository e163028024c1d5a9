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
#include <set>
#include <string>
#include <string_view>

#include "scheduler-plugin/app/use_case.hpp"

namespace chipweave::sched {

class GangSessions : public UseCase {
 public:
  explicit GangSessions(Core& core) : UseCase(core) {}

  // How many rounds in a row may lack a node.
  static constexpr int kMaxMissed = 3;
  // The same where Volcano does not look at all nodes because it has found enough.
  static constexpr int kMaxMissedSampled = 8;
  static constexpr int kSample = 100;
  static constexpr std::chrono::seconds kRuledOut{60};

  // A session asks whether the pod, which it has not placed yet, may go to the node. True: this
  // began a round. Precondition: the pod is one of the gang's. Cost: O(log pods), and O(pods) for a
  // round.
  bool asked(const std::string& gang, const PodRequest& pod, NodeId node);
  // Whether a session has asked about pods of the gang.
  bool knows(std::string_view gang) const { return gangs_.find(gang) != gangs_.end(); }
  // Takes the nodes out that the gang's scheduler rules out.
  void limit(const std::string& gang, NodeSet& nodes) const;

  // The pod is to be on the node: changes its place with another pod's if it can. Errors: conflict:
  // it cannot be there. Precondition: its slot holds chips.
  Result<void> place(const std::string& gang, const PodRequest& pod, NodeId node);
  // Whether place() would succeed, and with which chips. Null: it would not.
  const Holding* would_place(const std::string& gang, const PodRequest& pod, NodeId node) const;
  // The error of place().
  Error refusal(const PodRequest& pod, NodeId node) const;
  // The session has placed it / has taken it back.
  void placed(const std::string& gang, const std::string& uid);
  void taken_back(const std::string& gang, std::string_view uid);

  void forget(const std::string& gang);
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
  void end_round(const std::string& gang, Of& of);
  bool still_waits(const Round& round) const;

  std::map<std::string, Of, std::less<>> gangs_;
};

}  // namespace chipweave::sched
