// SpeculativeReservations — reservations of kube-scheduler's own gangs (PodRequest::gang) while it
// evaluates them.
//
// kube-scheduler runs filter and prioritize for one member after another, undoes all of it, and
// then binds either all members or none, without saying which. Members' reservations therefore live
// only kLifetime beyond the last request for any of them, and end earlier if another pod fits
// nowhere else: that pod is evaluated after the attempt.
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

  // A member is being evaluated. If it was before, and others since, a new attempt has begun:
  // returns the uids that may still have reservations from the earlier one. Cost: O(log members).
  std::vector<std::string> asked(const std::string& gang, const std::string& uid,
                                 Clock::Steady now);
  // Ends all attempts except those of `gang`; returns the uids that may still have reservations.
  std::vector<std::string> end_others(const std::string& gang);
  // Call before reservations expire: extends those of ongoing attempts, each at most once per
  // kLifetime.
  void prolong(Clock::Steady now);

 private:
  struct Try {
    std::set<std::string> members;  // uids that were evaluated
    std::string current;            // the last of them
    Clock::Steady last{};           // when
    Clock::Steady prolonged{};      // no reservation of it ends before
  };
  Ledger& ledger_;
  std::map<std::string, Try> speculative_;
  Clock::Steady next_{};  // nothing to do before
};

}  // namespace chipweave::sched
