// SpeculativeReservations — reservations of kube-scheduler's own gangs (PodRequest::gang), which it
// evaluates as a whole before it binds one pod.
//
// In one attempt it runs filter and prioritize for one member after another, undoes all of it, and
// then binds either all members that fit or none. It does not report which: permit and volumes may
// take many seconds, so an attempt may still be bound as long as nothing shows that it failed. Its
// reservations then live as long as any others.
//
// An attempt has failed if a member fits nowhere, if the cluster reports a member as unschedulable,
// or if the next attempt begins. Its reservations end when the next pod is evaluated,
// kFailedLifetime later at the latest: its members are still evaluated beside each other.
//
// A gang that does not fit for reasons of kube-scheduler's own, such as CPU for a further member,
// begins one attempt after another. An attempt is unpromising if one in which as many members
// fitted has failed before: its reservations end for a pod that fits nowhere else, and also after
// kFailedLifetime. Bindings that take longer show in the pods' status.nominatedNodeName. What a
// plan reserves (Holding::planned) does not end for that reason alone: its pods are nominated
// before they are tried, and the next attempt needs the same chips.
//
// Reference: Kubernetes 1.36 and 1.37, pkg/scheduler/schedule_one_podgroup.go; 1.37 does not
// evaluate further members once too few of them can fit. Owner: the loop thread.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "scheduler-plugin/app/observer.hpp"
#include "scheduler-plugin/state/ledger.hpp"

namespace chipweave::sched {

class SpeculativeReservations {
 public:
  static constexpr std::chrono::milliseconds kFailedLifetime{1000};

  SpeculativeReservations(Ledger& ledger, std::chrono::milliseconds ttl)
      : ledger_(ledger), ttl_(ttl) {}
  SpeculativeReservations(const SpeculativeReservations&) = delete;
  SpeculativeReservations& operator=(const SpeculativeReservations&) = delete;

  using Uids = std::vector<std::string>;
  // Each of these returns the pods whose reservations are to end now.

  // A member is being evaluated. A filter after it was found to fit, or after that of another
  // member, begins a new attempt; if the earlier one failed as a whole, its reservations end. Cost:
  // O(log members), O(members) in that case.
  Uids evaluated(Verb verb, const std::string& gang, const std::string& uid, Clock::Steady now);
  // A pod of this gang, or of none (""), is being evaluated: failed attempts of other gangs end.
  Uids end_failed(const std::string& gang);
  // A pod fits nowhere: unpromising attempts of other gangs end.
  Uids end_unpromising(const std::string& gang);
  // Call before reservations expire: those of one attempt expire together.
  Uids expire(Clock::Steady now);
  Uids end_all();

  // The member fits nowhere.
  void fits_nowhere(const std::string& gang, const std::string& uid);
  // The cluster reports the member as unschedulable.
  void unschedulable(const std::string& gang, const std::string& uid);
  // The gang's attempt is being bound: its reservations become ordinary ones.
  void being_bound(const std::string& gang);

 private:
  struct Attempt {
    std::vector<std::string> order;  // uids in the order of their evaluation
    std::set<std::string> members;   // the same
    std::set<std::string> misfits;   // those that fit nowhere
    bool unschedulable = false;      // according to the cluster
    std::string current;             // the member evaluated last
    Clock::Steady last{};            // when
    std::size_t most_failed = 0;     // members that fitted in an attempt that failed
    Clock::Steady extended{};        // no reservation of it ends before
    bool failed() const { return unschedulable || !misfits.empty(); }
    std::size_t fitting() const { return order.size() - misfits.size(); }
    bool unpromising() const { return fitting() <= most_failed; }
  };
  bool is_bound(const std::string& uid) const;
  bool any_bound(const Attempt& attempt) const;
  bool is_planned(const Attempt& attempt) const;
  bool ends_soon(const Attempt& attempt) const;
  static bool begins_again(Verb verb, const Attempt& attempt, const std::string& uid);
  bool others_are_bound_next(const Attempt& attempt, const std::string& uid) const;
  static void clear(Attempt& attempt);
  // The reservations that end with a failed attempt. Those of one whose bindings have begun do not.
  void end(Attempt& attempt, Uids& ended) const;
  Clock::Steady due(const Attempt& attempt) const;

  Ledger& ledger_;
  std::chrono::milliseconds ttl_;
  std::map<std::string, Attempt> attempts_;
  Clock::Steady next_{};  // nothing to do before
};

}  // namespace chipweave::sched
