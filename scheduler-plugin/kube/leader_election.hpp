// LeaderElection — this replica's part in the election of the one that decides: the Lease, the
// label of its pod, and what it tells of both.
//
// Owner: the loop thread; ends with its destructor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/base/clock.hpp"
#include "common/kube/leader_elector.hpp"
#include "common/kube/transport.hpp"
#include "scheduler-plugin/app/leadership.hpp"
#include "scheduler-plugin/kube/leader_label.hpp"

namespace chipweave::sched {

class LeaderElection final : public Leadership {
 public:
  struct Options {
    // lease.identity: what this replica is called; a part that no other process has is added.
    kube::LeaderElector::Options lease;
    std::string pod;  // ours, in the Lease's namespace; empty: no label is written
  };
  struct Events {
    std::function<bool()> may_lead;  // whether everything is known that a leader must know
    std::function<void()> began;
    std::function<void()> ended;
  };
  LeaderElection(std::unique_ptr<kube::Transport> transport, const Clock& clock, Options options,
                 Events events, std::function<double()> jitter);

  void start();
  // Several times a second.
  void tick();

  std::string standby() const override { return elector_.standby(); }
  std::uint64_t term() const override { return elector_.term(); }
  // Why a replica that does not lead must not be sent anything yet; empty: it may.
  std::string not_ready() const;
  // Never leads again. give_back: nothing that it has begun is without an end.
  void stop(bool give_back, std::function<void()> done);

  struct Stats {
    bool leads = false;
    std::uint64_t terms = 0;
    std::uint64_t failures = 0;  // requests for the Lease or the label that came to nothing
  };
  Stats stats() const { return {elector_.holds(), elector_.term(), failures_}; }

 private:
  void began(const std::string& former);
  void ended();
  void failed(const std::string& what);

  const Clock& clock_;
  std::unique_ptr<kube::Transport> transport_;
  Options options_;
  Events events_;
  LeaderLabel label_;
  kube::LeaderElector elector_;
  std::uint64_t failures_ = 0;
  std::string last_failure_;
  Clock::Steady failure_logged_{};
  std::string last_holder_;
  std::unique_ptr<kube::Ticket> limit_;
};

}  // namespace chipweave::sched
