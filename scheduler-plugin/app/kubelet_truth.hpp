// KubeletTruth — which chips bound pods really have. A placement says what was chosen; a device
// plugin may have handed out others, and then the kubelet is right: the ledger is corrected, and
// the difference is reported.
//
// What the kubelet has given to a pod counts when it is all of its chips, and whole ones. It stays
// until the pod is gone, whatever the pod's annotations say. Owner: the loop thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler-plugin/app/bound_pods.hpp"

namespace chipweave::sched {

class KubeletTruth : public UseCase {
 public:
  KubeletTruth(Core& core, BoundPods& bound_pods) : UseCase(core), bound_pods_(bound_pods) {}

  // The agent of the node has reported what the kubelet has given (Node::given). O(containers of
  // the node · log).
  void reported(NodeId node);
  // The pod's binding was in flight until now: what the agent has reported meanwhile counts.
  void bound(const ClusterPod& pod);
  // A ResourceClaim of the pod says which chips the kubelet will give it; the pod may not be known
  // yet.
  void allocated(const Placement& placement);
  // There is no such claim any more. A pod that is bound has the chips of its placement again.
  void released(const std::string& uid);
  void gone(const std::string& uid) { allocated_.erase(uid); }
  // What the kubelet has given to the bound pod, of which `chosen` is the placement (null: none);
  // null: it has not said, or not whole chips. Reports other chips than the chosen ones as drift,
  // once. Valid until the pod's record changes. O(containers of the node).
  const Placement* of(const ClusterPod& pod, const Placement* chosen);

 private:
  // A pod whose chips are not those that it was thought to have.
  struct Correction {
    std::string uid;
    Placement given;
    std::optional<Placement> chosen;  // by its placement
  };
  Placement placement_of(const Decision& decision) const;
  std::optional<Placement> given_to(const ClusterPod& pod, const Node& node) const;
  std::optional<Placement> complete(const ClusterPod& pod, const Node& node,
                                    std::vector<int> chips) const;
  static bool remember(PodRecord& record, Placement given);
  std::optional<Correction> correction_of(const ClusterPod& pod, NodeId id);
  std::vector<std::string> displaced_by(const std::vector<Correction>& corrections,
                                        NodeId id) const;
  void apply(NodeId id, std::vector<Correction> corrections);
  void drifted(const ClusterPod& pod, GivenToPod& given, const Placement& chosen);
  const ClusterPod* pod_of(const domain::GivenChips::Container& container) const;

  BoundPods& bound_pods_;
  std::map<std::string, Placement> allocated_;  // by claims, by uid
};

}  // namespace chipweave::sched
