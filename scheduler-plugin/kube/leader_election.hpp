// LeaderElection — this replica's part in the leader election: the Lease, the label on its pod, and
// the log lines about both.
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
#include "scheduler-plugin/kube/leader_label.hpp"
#include "scheduler-plugin/state/leadership.hpp"

namespace chipweave::sched {

class LeaderElection final : public Leadership {
 public:
  struct Options {
    // lease.identity: name of this replica; a suffix unique to this process is added.
    kube::LeaderElector::Options lease;
    std::string pod;  // our pod, in the Lease's namespace; empty: no label is written
  };
  struct Events {
    std::function<bool()> may_lead;  // whether this replica has synced
    std::function<void()> began;
    std::function<void()> ended;
  };
  LeaderElection(std::unique_ptr<kube::Transport> transport, const Clock& clock, Options options,
                 Events events, std::function<double()> jitter);

  void start();
  // Call several times a second.
  void tick();

  std::string standby() const override { return elector_.standby(); }
  std::uint64_t term() const override { return elector_.term(); }
  // Why a standby is not ready; empty: it is.
  std::string not_ready() const;
  // Never leads again. give_back: release the Lease, because no binding is in flight.
  void stop(bool give_back, std::function<void()> done);

  struct Stats {
    bool leads = false;
    std::uint64_t terms = 0;
    std::uint64_t failures = 0;  // failed requests for the Lease or the label
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
