// RequeueTrigger — makes kube-scheduler retry pods that were rejected.
//
// kube-scheduler retries a rejected pod when an object that it watches changes. It does not notice
// that chips recover, that a machine is reported, that a reservation ends, or that the last pod of
// its gang has come. When one of these
// happens while pods wait, one Node is annotated; with Kubernetes 1.36 this requeues all of them at
// once. The same happens when this replica begins to lead, because another one rejected the pods.
// Reservations also end because kube-scheduler cannot place a pod for reasons of its own: as long
// as no pod gets bound, they trigger at growing intervals. Owner: the loop thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "common/base/backoff.hpp"
#include "common/base/clock.hpp"
#include "common/kube/transport.hpp"
#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

inline constexpr const char* kRequeueAnnotation = "chipweave.dev/chips-freed";

class RequeueTrigger {
 public:
  struct Options {
    std::chrono::milliseconds at_most_every{500};
    std::chrono::milliseconds longest_wait{8000};  // between triggers that led to nothing
  };
  RequeueTrigger(kube::Transport& transport, Scheduler& scheduler, Options options)
      : transport_(transport),
        scheduler_(scheduler),
        options_(options),
        waits_({options.at_most_every, options.longest_wait, 0}),
        wait_(waits_.next()) {}

  // Cheap if nothing changed; call it several times a second.
  void check();
  // Pods may be waiting that another replica rejected.
  void requeue_all() { all_ = true; }
  std::uint64_t touched() const { return touched_; }

 private:
  std::string any_node() const;
  void touch(const std::string& node);

  kube::Transport& transport_;
  Scheduler& scheduler_;
  Options options_;
  bool all_ = false;            // trigger even though nothing changed here
  std::uint64_t gains_ = 0;     // Scheduler::gains() at the last trigger
  std::uint64_t gathered_ = 0;  // likewise
  std::uint64_t freed_ = 0;     // likewise
  std::uint64_t stored_ = 0;    // bindings at the last trigger
  Backoff waits_;
  std::chrono::milliseconds wait_;  // after the last trigger, if only reservations ended
  Clock::Steady last_{};
  std::uint64_t touched_ = 0;
  std::unique_ptr<kube::Ticket> call_;
};

}  // namespace chipweave::sched
