// Nominations — chips that are kept for pods for which kube-scheduler has nominated a node
// (status.nominatedNodeName), usually because it evicts other pods there for them.
//
// From the set that the pod would get once the victims are gone, the free chips are reserved for
// it at once, and those of each victim as it goes, until the pod is bound, gone, no longer
// nominated there, or kLifetime has passed. A pod of higher priority that fits nowhere else takes
// them, as it does in kube-scheduler's own filters. Nothing is kept for a pod with a reservation of
// its own (a place in the plan of a gang included) or a binding in flight, nor for members of a
// group (PodRequest::group). Owner: the loop thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-plugin/app/reservations.hpp"

namespace chipweave::sched {

struct ProposedVictims {
  std::string node;
  std::vector<std::string> uids;
};

class Nominations : public UseCase {
 public:
  static constexpr std::chrono::minutes kLifetime{10};  // the victims' grace periods included
  // kube-scheduler may ask again before it has seen the victims go, but no later than this.
  static constexpr std::chrono::seconds kSettles{5};
  static constexpr std::size_t kMaxNominations = 1024;  // nothing is kept for further pods
  static constexpr std::size_t kMaxProposals = 16;  // kube-scheduler acts on one before the next
  static constexpr std::size_t kMaxSearches = 64;   // for a set of chips, in one call

  Nominations(Core& core, const Evaluator& evaluator, Reservations& reservations)
      : UseCase(core), evaluator_(evaluator), reservations_(reservations) {}

  // These pods must end for this one, by node; kube-scheduler may nominate one of the nodes.
  void proposed(const std::string& uid, std::vector<ProposedVictims> nodes);
  // The cluster reports the node of a waiting pod, another one, or none.
  void nominated(const ClusterPod& pod);
  // The pod is bound or gone.
  void waits_no_more(const std::string& uid);

  // Keeps what there is to keep now: for the pod, after its evaluation; on the node, after a pod
  // has gone there; for all pods, every second.
  void keep_for(const std::string& uid);
  void keep_on(NodeId node);
  void keep_all();
  // The pod fits on none of these nodes. True if chips of one, kept for pods of lower priority,
  // were given up, so that it fits there now.
  bool give_way(const RequestContext& context, int priority, const std::vector<NodeId>& nodes);

  // Victims that were chosen for this pod on this node and that kube-scheduler may be about to
  // evict, or may not have seen go.
  struct Chosen {
    std::vector<std::string> uids;  // empty: none
    bool nominated = false;         // kube-scheduler evicts them
  };
  Chosen lately_chosen(const std::string& uid, const std::string& node) const;

  // Chips of the node that pods of lower priority give up to this one, and those that come free but
  // are for pods of the same or higher priority.
  ChipSet yielding(NodeId node, int priority) const;
  ChipSet expected(NodeId node, std::string_view uid, int priority) const;

 private:
  struct Nomination {
    PodKey key;
    int priority = 0;
    std::string node;
    std::vector<std::string> victims;  // uids
    std::ptrdiff_t left = 0;           // victims that still hold chips
    Clock::Steady changed{};           // when it became that many
    ChipSet wanted;                    // on that node, as far as it can be told
    Clock::Steady until{};
  };
  using Map = std::map<std::string, Nomination, std::less<>>;

  void keep(const std::string& uid, Nomination& nomination);
  // The set that the pod would get; empty if it would not fit.
  ChipSet wanted_by(const ClusterPod& pod, const Nomination& nomination, NodeId node) const;
  std::ptrdiff_t holding_chips(const std::vector<std::string>& uids) const;
  bool comes_free(const Holding& holding, const Nomination& nomination) const;
  bool complete(const Holding& kept, const PodRequest& pod) const;
  void end(const std::string& uid);
  void drop_kept(const std::string& uid);
  void give_up(NodeId node, ChipSet chips, int priority);
  void erase(Map::iterator it);

  const Evaluator& evaluator_;
  Reservations& reservations_;
  struct Proposal {
    std::string uid;
    std::vector<ProposedVictims> nodes;  // by name
    Clock::Steady at{};
  };
  std::deque<Proposal> proposals_;                                        // oldest first
  Map nominations_;                                                       // by uid
  std::map<std::string, std::vector<std::string>, std::less<>> by_node_;  // uids, oldest first
  std::string last_kept_;  // where keep_all() goes on
};

}  // namespace chipweave::sched
