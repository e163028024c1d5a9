// PodEvents — chipweave's decisions as events.k8s.io/v1 events on pods and nodes, for kubectl
// describe.
//
// An Observer: ChipsAssigned when a pod is bound, ChipsNotEnforced where the kubelet picks chips
// itself, ChipsUnavailable when no node fits, ChipsDiffer when the kubelet has given other chips
// than were chosen, Preempted when a pod is evicted for a gang, ClaimsWait and ClaimsAllocated of
// pods that name ResourceClaims; on a node ChipsWithheld. A repeated reason raises the count of the
// same event. How events are sent: event_sender.hpp. Owner: the loop thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/base/clock.hpp"
#include "common/kube/event_sender.hpp"
#include "common/kube/transport.hpp"
#include "scheduler-plugin/app/observer.hpp"

namespace chipweave::sched {

inline constexpr const char* kEventController = "chipweave.dev/scheduler";

class PodEvents final : public Observer {
 public:
  struct Options {
    std::string instance;  // names this scheduler: the host's name
    kube::EventLimits limits;
    std::chrono::seconds repeat_interval{60};  // between updates of a repeated event's count
  };
  PodEvents(kube::Transport& transport, const Clock& clock, Options options);

  void on(const Observation& seen) override;

  // A pod that names claims waits, or they are allocated.
  void claims_wait(const PodKey& pod, std::string_view uid, const std::string& why);
  void claims_allocated(const PodKey& pod, std::string_view uid, const std::string& what);

  kube::EventSender& sender() { return sender_; }
  const kube::EventSender::Stats& stats() const { return sender_.stats(); }

 private:
  // The last ChipsUnavailable of a pod.
  struct Published {
    std::string why;
    int repeated = 0;  // since it was last sent
    Clock::Steady last{};
  };
  void bound(const PodBound& pod);
  void drifted(const PodDrifted& pod);
  void withheld(const NodeWithheld& node);
  void preempted(const PodPreempted& pod);
  void ended(const GangPodEnded& pod);
  void unplaceable(const PodUnplaceable& pod);
  void send(const PodKey& pod, std::string_view uid, bool warning, const char* reason,
            const char* action, const std::string& note, int times);

  const Clock& clock_;
  Options options_;
  std::unordered_map<std::string, Published> published_;  // by uid, of pods that wait
  kube::EventSender sender_;
};

}  // namespace chipweave::sched
