// PodEvents — what kubectl describe shows of chipweave's decisions: events of events.k8s.io/v1 on
// pods.
//
// An Observer: ChipsAssigned when a pod is bound, ChipsUnavailable when no node has room for it;
// the same reason again is counted on the same event, not told anew. Events are courtesy: they wait
// in a bounded queue, go out at a limited rate, and one that the API server does not take is
// dropped and counted. Owner: the loop thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/base/clock.hpp"
#include "common/kube/transport.hpp"
#include "scheduler-plugin/app/observer.hpp"

namespace chipweave::sched {

class PodEvents final : public NullObserver {
 public:
  struct Options {
    std::string instance;                 // of this scheduler: the host's name
    std::size_t max_waiting = 4096;       // the oldest goes first
    double per_second = 10;               // in the long run
    int at_once = 50;                     // after a while without any
    std::chrono::seconds told_again{60};  // the count of a repeated event, at most so often
    std::size_t max_remembered = 10'000;  // pods without chips whose last reason is known
  };
  PodEvents(kube::Transport& transport, const Clock& clock, Options options);

  void bound(const BoundPod& pod) override;
  void unplaceable(const PodKey& pod, std::string_view uid, std::string_view why) override;

  struct Stats {
    std::uint64_t sent = 0;
    std::uint64_t dropped = 0;  // no room, or not taken
  };
  const Stats& stats() const { return stats_; }

 private:
  // The last ChipsUnavailable of a pod.
  struct Told {
    std::string event;  // its name
    std::string why;
    int count = 1;
    Clock::Steady last{};
  };
  std::string create(const PodKey& pod, std::string_view uid, const char* type, const char* reason,
                     const char* action, const std::string& note);
  void enqueue(kube::Call call);
  void pump();

  kube::Transport& transport_;
  const Clock& clock_;
  Options options_;
  std::unordered_map<std::string, Told> told_;  // by uid
  std::deque<kube::Call> waiting_;
  double tokens_;
  Clock::Steady refilled_;
  std::uint64_t names_ = 0;
  std::unique_ptr<kube::Ticket> call_;
  std::unique_ptr<kube::Ticket> pause_;
  Stats stats_;
};

}  // namespace chipweave::sched
