// Cluster — the pods of the cluster as the scheduler sees them, and the one way to bind one.
//
// Behind it stands memory (standalone) or a Kubernetes API server's list and watch
// (scheduler-plugin/kube); the use cases know only this. Owner: the loop thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"
#include "scheduler-plugin/app/model.hpp"

namespace chipweave::sched {

struct ClusterPod {
  PodRequest request;    // key, uid, labels and annotations as its owner wrote them
  std::string refused;   // why its request cannot be served by anyone ("500m" GPUs); empty: it can
  std::string node;      // empty until bound
  bool started = false;  // it runs, or did: its devices were given to it
  bool ending = false;   // it was deleted; its chips are its own until it is gone
  int priority = 0;
  std::uint64_t arrival = 0;
};

// Told of changes that did not come from the scheduler itself.
class ClusterListener {
 public:
  virtual ~ClusterListener() = default;
  // claimed: which chips a bound pod has, as it says itself; null if it does not.
  virtual void pod_added(const ClusterPod& pod,
                         const Placement* claimed) = 0;  // perhaps bound already
  // A pod that waited is bound now, whoever asked for it; once more when it says its chips later.
  virtual void pod_bound(const ClusterPod& pod, const Placement* claimed) = 0;
  virtual void pod_gone(const ClusterPod& pod) = 0;  // deleted or finished: its chips are free
};

class Cluster {
 public:
  Cluster() = default;
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  virtual ~Cluster() = default;

  // Null if there is none; valid until the pod is gone.
  virtual const ClusterPod* find(const PodKey& key) const = 0;
  // Node and annotations in one step. Errors: not_found, conflict (other uid, or bound already: by
  // then find() shows how), invalid_argument: the pod is not bound so, and will not be.
  // unavailable: it may be bound all the same; the listener is told if it is.
  virtual void bind(const Binding& binding, const Annotations& annotations, Done done) = 0;
  // Adds annotations to a bound pod that has no placement. Errors: not_found; conflict: another
  // uid, or it has one by now; invalid_argument: refused for good; unavailable: it may have them
  // all the same.
  virtual void annotate(const PodKey& key, const std::string& uid, const Annotations& annotations,
                        Done done) = 0;
  // Asks again how the pod is, for one that may be newer than what was seen. ok: find() shows it,
  // or that there is none.
  virtual void refresh(const PodKey& key, Done done) = 0;
  // Asks which pods are bound to the node now. ok: find() shows each as it is, or as it was later.
  virtual void refresh_node(const std::string& node, Done done) = 0;
  // Ends a pod, as a DELETE would; unsupported where pods are not ours to end.
  virtual Result<void> end(const PodKey& key) = 0;
  // By arrival.
  virtual void each(const std::function<void(const ClusterPod&)>& visit) const = 0;
  virtual std::size_t size() const = 0;
};

}  // namespace chipweave::sched
