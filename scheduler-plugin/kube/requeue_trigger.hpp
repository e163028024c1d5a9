// RequeueTrigger — makes kube-scheduler retry pods that were rejected.
//
// kube-scheduler retries a rejected pod only when an object that it watches changes. It does not
// notice that chips recover or that a reservation ends. When chips come free for a rejected pod,
// one Node is annotated, and only then; with Kubernetes 1.36 this requeues all such pods at once.
// The same happens when this replica begins to lead, because another one rejected the pods. Owner:
// the loop thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "common/base/clock.hpp"
#include "common/kube/transport.hpp"
#include "scheduler-plugin/app/scheduler.hpp"

namespace chipweave::sched {

inline constexpr const char* kRequeueAnnotation = "chipweave.dev/chips-freed";

class RequeueTrigger {
 public:
  struct Options {
    std::chrono::milliseconds at_most_every{500};
  };
  RequeueTrigger(kube::Transport& transport, Scheduler& scheduler, Options options)
      : transport_(transport), scheduler_(scheduler), options_(options) {}

  // Cheap if nothing changed; call it several times a second.
  void check();
  // Pods may be waiting that another replica rejected.
  void requeue_all() { all_ = true; }
  std::uint64_t touched() const { return touched_; }

 private:
  std::string any_node_if_pods_wait() const;
  void touch(const std::string& node, bool all);

  kube::Transport& transport_;
  Scheduler& scheduler_;
  Options options_;
  bool all_ = false;        // trigger even without rejections of our own
  std::uint64_t seen_ = 0;  // Scheduler::changes() at the last check
  Clock::Steady last_{};
  std::uint64_t touched_ = 0;
  std::unique_ptr<kube::Ticket> call_;
};

}  // namespace chipweave::sched
