// PodEvents — chipweave's decisions as events.k8s.io/v1 events on pods, for kubectl describe.
//
// An Observer: ChipsAssigned when a pod is bound, ChipsUnavailable when no node fits; a repeated
// reason raises the count of the same event. Events are best effort (event_sender.hpp). Owner: the
// loop thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/base/clock.hpp"
#include "common/kube/event_sender.hpp"
#include "common/kube/transport.hpp"
#include "scheduler-plugin/app/observer.hpp"

namespace chipweave::sched {

class PodEvents final : public Observer {
 public:
  struct Options {
    std::string instance;  // names this scheduler: the host's name
    kube::EventLimits limits;
    std::chrono::seconds repeat_interval{60};  // between updates of a repeated event's count
    std::size_t max_remembered = 10'000;       // pending pods whose last event is known
  };
  PodEvents(kube::Transport& transport, const Clock& clock, Options options);

  void on(const Observation& seen) override;

  const kube::EventSender::Stats& stats() const { return sender_.stats(); }

 private:
  // The last ChipsUnavailable of a pod.
  struct Published {
    std::string event;  // its name
    std::string why;
    int count = 1;
    Clock::Steady last{};
  };
  void bound(const PodBound& pod);
  void unplaceable(const PodUnplaceable& pod);
  std::string create(const PodKey& pod, std::string_view uid, bool warning, const char* reason,
                     const char* action, const std::string& note);

  const Clock& clock_;
  Options options_;
  std::unordered_map<std::string, Published> published_;  // by uid
  kube::EventSender sender_;
};

}  // namespace chipweave::sched
