// SpeculativeReservations — gangs of kube-scheduler itself (PodRequest::gang), while it tries them.
//
// It asks filter and prioritize for one member after another, takes everything back, and then binds
// them all at once or none; nobody tells which. So what members are reserved lives only as long as
// the try goes on and the bindings may come: kLifetime after the last question for any of them, and
// gives way before to a pod that fits nowhere else: that one is asked for when the try is over.
// Reference: Kubernetes 1.36, pkg/scheduler/schedule_one_podgroup.go. Owner: the loop thread.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "scheduler-plugin/state/ledger.hpp"

namespace chipweave::sched {

class SpeculativeReservations {
 public:
  static constexpr std::chrono::seconds kLifetime{1};

  explicit SpeculativeReservations(Ledger& ledger) : ledger_(ledger) {}
  SpeculativeReservations(const SpeculativeReservations&) = delete;
  SpeculativeReservations& operator=(const SpeculativeReservations&) = delete;

  // A member is asked for. If it was before, and others since, a new try has begun: the uids of all
  // that the earlier one may have left reservations to. Cost: O(log members).
  std::vector<std::string> asked(const std::string& gang, const std::string& uid,
                                 Clock::Steady now);
  // Ends all tries but those of `gang`: the uids that they may have left reservations to.
  std::vector<std::string> end_others(const std::string& gang);
  // Before reservations expire: those of a try that goes on live longer. Each is touched once in
  // kLifetime.
  void prolong(Clock::Steady now);

 private:
  struct Try {
    std::set<std::string> members;  // uids that were asked for
    std::string current;            // the last of them
    Clock::Steady last{};           // when
    Clock::Steady prolonged{};      // no reservation of it ends before
  };
  Ledger& ledger_;
  std::map<std::string, Try> speculative_;
  Clock::Steady next_{};  // nothing is to be done before
};

}  // namespace chipweave::sched
