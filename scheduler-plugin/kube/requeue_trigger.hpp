// RequeueTrigger — has kube-scheduler look again at pods that it gave up on.
//
// kube-scheduler asks again for a rejected pod only when something changes that it watches; chips
// that become healthy, or a reservation that ends, is nothing it sees. So when chips came free for
// a pod that was rejected, one Node is touched (an annotation), and only then: observed with 1.36,
// that brings every such pod back at once. The same when this replica begins to lead: it was not
// there when pods were rejected. Owner: the loop thread.
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

  // Cheap when nothing came free; call it several times a second.
  void check();
  // Pods may wait that another replica rejected.
  void requeue_all() { all_ = true; }
  std::uint64_t touched() const { return touched_; }

 private:
  std::string any_node_if_pods_wait() const;
  void touch(const std::string& node, bool all);

  kube::Transport& transport_;
  Scheduler& scheduler_;
  Options options_;
  bool all_ = false;        // look at what this replica knows nothing of, too
  std::uint64_t seen_ = 0;  // Scheduler::changes() when it was looked at last
  Clock::Steady last_{};
  std::uint64_t touched_ = 0;
  std::unique_ptr<kube::Ticket> call_;
};

}  // namespace chipweave::sched
