// GangEvents — what happens to gangs as events, for kubectl describe: on the owner object of the
// gang, where its kind is watched, else on one of its pods.
//
// GangPlanned; GangWaits, at most every kPause with another reason; GangGivenUp, when not all of
// its pods were bound in time; GangIncomplete, when pods do not come; GangPreempting, when pods of
// lower priority are to end for it, and GangNotPreempting, when none do, or no more; GangPreempted,
// when its pods end for another one; HostfileNotWritten; RankTableComplete, RankTableIncomplete.
// Owner: the loop thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "common/base/clock.hpp"
#include "common/codec/kube/objects/event.hpp"
#include "scheduler-plugin/app/observer.hpp"

namespace chipweave::sched {

class GangEvents final : public Observer {
 public:
  static constexpr std::chrono::seconds kPause{60};
  static constexpr std::size_t kMaxVictims = 8;  // that a note names
  struct Ways {
    std::function<void(const codec::KubeEvent&)> send;
    // The owner object of the gang; nullopt: it is not known.
    std::function<std::optional<codec::EventObject>(const GangRef&)> owner;
  };
  GangEvents(const Clock& clock, std::string instance, Ways ways)
      : clock_(clock), instance_(std::move(instance)), ways_(std::move(ways)) {}

  void on(const Observation& seen) override;
  // Why the gang has no hostfile, or not the one that it should have.
  void hostfile_failed(const GangRef& gang, const std::string& why) {
    send(gang, true, "HostfileNotWritten", why);
  }
  // Of a job, or of a MindIE deployment.
  void rank_table_complete(const GangRef& gang, const std::string& what) {
    send(gang, false, "RankTableComplete", what);
  }
  void rank_table_failed(const GangRef& gang, const std::string& why) {
    send(gang, true, "RankTableIncomplete", why);
  }

 private:
  void planned(const GangPlanned& gang);
  void waits(const GangUnplaceable& gang);
  void preempting(const GangPreempting& gang);
  void not_preempting(const GangNotPreempting& gang);
  void send(const GangRef& gang, bool warning, const char* reason, std::string note);

  const Clock& clock_;
  std::string instance_;
  Ways ways_;
  std::map<std::string, Clock::Steady, std::less<>> told_;  // by gang: when it was said to wait
};

}  // namespace chipweave::sched
