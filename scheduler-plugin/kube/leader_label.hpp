// LeaderLabel — the label by which Services select the leading replica: set on our pod while it
// leads, and removed from the former leader's pod, which may be unable to do so itself.
//
// Our own pod's label is rewritten periodically, which corrects delayed requests and mistakes of
// other replicas. Without a pod name nothing is written. Owner: the loop thread; ends with its
// destructor.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "common/base/backoff.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::sched {

inline constexpr const char* kLeaderLabel = "chipweave.dev/leader";

class LeaderLabel {
 public:
  struct Options {
    std::string ns;
    std::string pod;  // ours; empty: there is none
    std::chrono::milliseconds again{10'000};
  };
  LeaderLabel(kube::Transport& transport, Options options,
              std::function<void(const std::string& what)> failed);
  LeaderLabel(const LeaderLabel&) = delete;
  LeaderLabel& operator=(const LeaderLabel&) = delete;

  // Whether our pod should carry the label.
  void set(bool on);
  // Removes it from another pod, unless set(false) is called first.
  void take_off(const std::string& pod);
  // Whether the API server has confirmed the last set().
  bool settled() const { return options_.pod.empty() || own_.settled; }
  // Removes it and calls `done`, also after a failure.
  void stop(std::function<void()> done);

 private:
  // Between retries. Without jitter: there are only a few replicas.
  static constexpr Backoff::Waits kWaits{std::chrono::milliseconds(100),
                                         std::chrono::milliseconds(2'000), 0};
  struct Mark {
    std::string pod;
    bool on = false;
    bool settled = false;
    Backoff backoff{kWaits};
    std::unique_ptr<kube::Ticket> ticket;
  };
  void begin(Mark& mark, const std::string& pod, bool on);
  void send(Mark& mark);
  void answered(Mark& mark, const Result<kube::Reply>& reply);
  void stopped();

  kube::Transport& transport_;
  Options options_;
  std::function<void(const std::string&)> failed_;
  Mark own_;
  Mark former_;
  std::function<void()> when_stopped_;
};

}  // namespace chipweave::sched
