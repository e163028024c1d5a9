// LeaderLabel — the label by which Services find the replica that leads: on our own pod while it
// leads, and off the pod that led before, which may not be able to take it off itself.
//
// What is wanted of our own pod is written again and again: a request that was late, or another
// replica that erred, does not last. Without a pod's name nothing is written. Owner: the loop
// thread; ends with its destructor.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "common/kube/transport.hpp"

namespace chipweave::sched {

inline constexpr const char* kLeaderLabel = "chipweave.dev/leader";

class LeaderLabel {
 public:
  struct Options {
    std::string ns;
    std::string pod;  // ours; empty: there is none
    std::chrono::milliseconds again{10'000};
    std::chrono::milliseconds first_wait{100};  // after a failure; doubles
    std::chrono::milliseconds longest_wait{2'000};
  };
  LeaderLabel(kube::Transport& transport, Options options,
              std::function<void(const std::string& what)> failed);
  LeaderLabel(const LeaderLabel&) = delete;
  LeaderLabel& operator=(const LeaderLabel&) = delete;

  // Whether our pod bears it from now on.
  void set(bool on);
  // Takes it off another pod, unless set(false) comes before that is done.
  void take_off(const std::string& pod);
  // Whether the API server has our pod as it was set last.
  bool settled() const { return options_.pod.empty() || own_.settled; }
  // Takes it off and then calls `done`, at the latest after a failure.
  void stop(std::function<void()> done);

 private:
  struct Mark {
    std::string pod;
    bool on = false;
    bool settled = false;
    std::chrono::milliseconds wait{0};
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
