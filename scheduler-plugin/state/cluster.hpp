// Cluster — the pods of the cluster as the scheduler sees them, and the one way to bind one.
//
// Implemented in memory (standalone) or by list and watch of a Kubernetes API server
// (scheduler-plugin/kube). Owner: the loop thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "common/domain/node_selection.hpp"
#include "scheduler-plugin/model/binding.hpp"
#include "scheduler-plugin/model/node_use.hpp"
#include "scheduler-plugin/model/placement.hpp"

namespace chipweave::sched {

// What a pod requests besides chips, as kube-scheduler counts it.
struct OtherResources {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;                      // bytes
  std::int64_t ephemeral_storage = 0;           // bytes
  std::map<std::string, std::int64_t> named{};  // all others: huge pages, network devices
};

struct ClusterPod {
  // Key, uid, labels and annotations as its owner wrote them. Chips: what it uses if it is bound.
  PodRequest request;
  std::string refused;       // why no node can serve its request ("500m" GPUs); empty: one may
  bool parts = false;        // bound, and of some chips it uses a part only
  std::string node;          // empty until bound
  std::string scheduler{};   // its spec.schedulerName while it waits; empty: the default
  bool started = false;      // it runs or ran: its devices were allocated
  bool ending = false;       // being deleted; it keeps its chips until it is gone
  std::int64_t created = 0;  // seconds since 1970; 0: not known. For people
  int priority = 0;
  bool may_preempt = true;  // spec.preemptionPolicy is not Never
  // Where kube-scheduler expects it to be bound later; empty: nowhere.
  std::string nominated = {};
  std::uint64_t arrival = 0;
  OtherResources others = {};
  // Its scheduling gates while it waits. They can only be removed, so true never comes back.
  bool gated = false;          // kGangGate
  bool foreign_gates = false;  // any other
  bool has_gates() const { return gated || foreign_gates; }
  // Where it may run, while it waits as one of a gang; null: it does not say, or it is none of one.
  std::shared_ptr<const domain::NodeWishes> nodes = {};
};

// Whether the placement can belong to this bound pod: it may have been copied with the manifest of
// another one.
inline bool can_be_of(const Placement& placement, const ClusterPod& pod) {
  return placement.uid == pod.request.uid && placement.node == pod.node &&
         placement.resource == pod.request.resource &&
         static_cast<int>(placement.chips.size()) == pod.request.chips;
}

// Receives changes that the scheduler did not make itself.
class ClusterListener {
 public:
  virtual ~ClusterListener() = default;
  // claimed: the chips of a bound pod according to its annotations; null if there are none.
  virtual void pod_added(const ClusterPod& pod,
                         const Placement* claimed) = 0;  // may be bound already
  // A waiting pod was bound, by any scheduler. Called again if its placement is annotated later.
  virtual void pod_bound(const ClusterPod& pod, const Placement* claimed) = 0;
  // A ResourceClaim that was made for this pod says which chips it gets. The pod may not be known
  // yet, or not to be bound.
  virtual void pod_allocated(const Placement& allocated) = 0;
  // That claim is gone, or not allocated any more.
  virtual void pod_released(const std::string& uid) = 0;
  // What a waiting pod says about its gang has changed.
  virtual void pod_marked(const ClusterPod& pod) = 0;
  // kube-scheduler nominated a node for a waiting pod, another one, or none any more.
  virtual void pod_nominated(const ClusterPod& pod) = 0;
  // kube-scheduler could not place a waiting pod. Not called again for the same reason.
  virtual void pod_unschedulable(const ClusterPod& pod) = 0;
  // Another client removed scheduling gates of a waiting pod.
  virtual void pod_gates_changed(const ClusterPod& pod) = 0;
  virtual void pod_gone(const ClusterPod& pod) = 0;  // deleted or finished: its chips are free
  // Pods bound to the node, with chips or without, request so much more or less now.
  virtual void node_use_changed(const std::string& node, const NodeUse& change) = 0;
};

class Cluster {
 public:
  Cluster() = default;
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  virtual ~Cluster() = default;

  // Null if there is none. Valid until the pod is gone.
  virtual const ClusterPod* find(const PodKey& key) const = 0;
  // Node and annotations in one step, after the claim, if there is one. Errors: not_found, conflict
  // (other uid, or bound already: by then find() shows how), invalid_argument, not_sent: the pod
  // was not bound and will not be. unavailable: it may have been bound; the listener is called if
  // it was.
  virtual void bind(const BindOrder& order, Done done) = 0;
  // Makes the claim of the order and no binding, because another client binds the pod. Errors: as
  // bind(), with no claim left unless it is unavailable.
  virtual void hand_over(const BindOrder& order, Done done) = 0;
  // Adds annotations to a bound pod that has no placement. Errors: not_found; conflict: another
  // uid, or it has one by now; invalid_argument: permanently rejected; unavailable: they may have
  // been stored nevertheless.
  virtual void annotate(const PodKey& key, const std::string& uid, const Annotations& annotations,
                        Done done) = 0;
  // Removes kGangGate, with what else the order says in the same step. ok, too, if the gate is gone
  // already: then the annotations are there, and it is pinned only if the first attempt did that.
  // ok: find() shows the pod without the gate. Errors: not_found; conflict: another uid;
  // invalid_argument: permanently rejected; not_sent: this replica does not lead any more, and the
  // pod keeps its gate; unavailable: it may have been removed; the listener is called if it was.
  virtual void ungate(const UngateOrder& order, Done done) = 0;
  // Says in the pod's status that it is expected on that node (ClusterPod::nominated). Errors:
  // not_found; conflict: another uid, or it is bound; invalid_argument: permanently rejected;
  // not_sent: this replica does not lead any more; unavailable: it may be stored. The listener is
  // called once it is.
  virtual void nominate(const Binding& place, Done done) = 0;
  // Reads the pod again, in case it is newer than what the watch has delivered. ok: find() returns
  // its current state, or null.
  virtual void refresh(const PodKey& key, Done done) = 0;
  // Lists the pods that are bound to the node. ok: find() returns each at least as new as the list.
  virtual void refresh_node(const std::string& node, Done done) = 0;
  // Deletes a pod. Errors: unsupported, if the cluster's pods are not ours to delete.
  virtual Result<void> end(const PodKey& key) = 0;
  // At most `most` of the pods that arrived after that one, by arrival; returns how many.
  virtual std::size_t each_after(std::uint64_t arrival, std::size_t most,
                                 const std::function<void(const ClusterPod&)>& visit) const = 0;
  void each(const std::function<void(const ClusterPod&)>& visit) const {
    each_after(0, SIZE_MAX, visit);
  }
  virtual std::size_t size() const = 0;
};

}  // namespace chipweave::sched
