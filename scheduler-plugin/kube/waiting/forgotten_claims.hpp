// ForgottenClaims — ends allocations whose pods are gone, where kube-controller-manager has not
// done so for a minute.
//
// Looks at one claim of chipweave's classes each second while this replica leads, and asks the API
// server for the pods that it is reserved for. Owner: the loop thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "common/base/clock.hpp"
#include "common/kube/claim_write.hpp"
#include "scheduler-plugin/kube/waiting/claim_book.hpp"

namespace chipweave::sched {

class ForgottenClaims {
 public:
  // All must outlive it. took: a claim as it is after a write.
  ForgottenClaims(kube::Transport& transport, const Clock& clock, const ClaimBook& book,
                  std::function<void(codec::KubeClaim)> took)
      : transport_(transport), clock_(clock), book_(book), took_(std::move(took)) {}

  // Call it several times a second. may_send: whether this replica still leads.
  void check(const std::function<bool()>& may_send);
  std::uint64_t ended() const { return ended_; }

 private:
  void ask(const codec::KubeClaim& claim, std::size_t consumer);
  void nobody_uses(const codec::KubeClaim& claim);

  kube::Transport& transport_;
  const Clock& clock_;
  const ClaimBook& book_;
  std::function<void(codec::KubeClaim)> took_;
  std::function<bool()> may_send_;
  std::string at_;  // key of the claim that was checked last
  Clock::Steady next_{};
  std::map<std::string, Clock::Steady> since_;  // by uid: since when no pod is known to use it
  std::unique_ptr<kube::Ticket> ticket_;        // null: nothing is being asked or written
  std::uint64_t ended_ = 0;
};

}  // namespace chipweave::sched
