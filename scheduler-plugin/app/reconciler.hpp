// Reconciler — what the cluster reports of pods: added, bound by whomever, gone.
//
// Another scheduler may bind a pod without a placement and without admission. If it has not
// started, its chips can be chosen then and annotated, for a device plugin that waits for the
// annotation (SchedulerOptions::decide_after_bind). Owner: the loop thread.
#pragma once

#include "scheduler-plugin/app/bind_coordinator.hpp"
#include "scheduler-plugin/app/gangs/gangs.hpp"
#include "scheduler-plugin/app/kubelet_truth.hpp"
#include "scheduler-plugin/app/nominations.hpp"

namespace chipweave::sched {

class Reconciler final : public ClusterListener, public UseCase {
 public:
  Reconciler(Core& core, Reservations& reservations, Nominations& nominations, Gangs& gangs,
             Decisions& decisions, BoundPods& bound_pods, KubeletTruth& truth,
             Admissions& admissions, BindCoordinator& bindings, bool decide_after_bind)
      : UseCase(core),
        reservations_(reservations),
        nominations_(nominations),
        gangs_(gangs),
        decisions_(decisions),
        bound_pods_(bound_pods),
        truth_(truth),
        admissions_(admissions),
        bindings_(bindings),
        decide_after_bind_(decide_after_bind) {}

  void pod_added(const ClusterPod& pod, const Placement* claimed) override;
  void pod_bound(const ClusterPod& pod, const Placement* claimed) override;
  void pod_allocated(const Placement& allocated) override { truth_.allocated(allocated); }
  void pod_released(const std::string& uid) override { truth_.released(uid); }
  void pod_marked(const ClusterPod& pod) override { gangs_.added(pod); }
  void pod_nominated(const ClusterPod& pod) override;
  void pod_unschedulable(const ClusterPod& pod) override {
    reservations_.unschedulable(pod.request);
  }
  void pod_gates_changed(const ClusterPod& pod) override { gangs_.gates_changed(pod); }
  void pod_gone(const ClusterPod& pod) override;
  void node_use_changed(const std::string& node, const NodeUse& change) override;
  // Retries pods without chips and annotations that could not be written.
  void check();

 private:
  void waits_no_more(PodRecord& record);
  void reconcile(const ClusterPod& pod, const Placement* claimed);
  bool decides_after_bind(const ClusterPod& pod) const;
  bool place_after_bind(const ClusterPod& pod, NodeId node);
  void write_placement(PodRecord& record);

  Reservations& reservations_;
  Nominations& nominations_;
  Gangs& gangs_;
  Decisions& decisions_;
  BoundPods& bound_pods_;
  KubeletTruth& truth_;
  Admissions& admissions_;
  BindCoordinator& bindings_;
  bool decide_after_bind_;
};

}  // namespace chipweave::sched
