// LeaderElector — which one of several processes leads: the one that holds a Lease of the API
// server, for as long as it renews it.
//
// The holder counts its time from when it sent the renewal that succeeded last, the others count
// theirs from when they saw the Lease change last, each by its own monotonic clock; nobody reads
// the times in the Lease. renew_deadline is shorter than lease_duration: so a holder knows that its
// time is over before anybody else may take the Lease, also one that was stopped meanwhile, since
// holds() is computed when asked. The rest (lease_duration - renew_deadline) is for what the holder
// has sent before: a request that takes longer to reach the API server's store than that is not
// kept out by the Lease. A Lease is written only in the version that was read (409 otherwise); what
// others wrote besides into it goes with that.
//
// One that could not look for a while begins to count anew. A Lease that vanishes is waited out
// like one that is held, unless none was ever seen: do not delete the Lease of a leader.
// Owner: the loop thread. Ends with its destructor, without a word to the API server.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/clock.hpp"
#include "common/codec/kube/watch.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::kube {

class LeaderElector {
 public:
  // Nobody is waited for longer than this, whatever a Lease says; no lease_duration is longer.
  static constexpr std::chrono::milliseconds kLongestLease{600'000};

  // Preconditions: renew_deadline > retry_period, lease_duration > renew_deadline.
  struct Options {
    std::string ns;
    std::string name;
    std::string identity;  // of this process and no other: one that is restarted needs a new one
    std::chrono::milliseconds lease_duration{3'000};
    std::chrono::milliseconds renew_deadline{2'000};
    std::chrono::milliseconds retry_period{400};
  };
  // Each is called after what it tells has happened.
  struct Events {
    // Asked before the Lease is taken; false: it only looks on.
    std::function<bool()> may_lead;
    // A term begins. former: who held the Lease before; empty: nobody, or this process.
    std::function<void(const std::string& former)> began;
    std::function<void()> ended;  // the term's time is over; also told by check(), at the latest
    std::function<void(const std::string& what)> failed;  // a request came to nothing; waited out
  };
  LeaderElector(Transport& transport, const Clock& clock, Options options, Events events,
                std::function<double()> jitter);
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  void start();
  // Whether this process leads at this moment.
  bool holds() const;
  // Of this process, from 1; 0 before the first.
  std::uint64_t term() const { return term_; }
  // Who is said to hold the Lease; empty: nobody, or nothing is known yet.
  std::string holder() const;
  // Why this process does not lead, in words; empty: it does.
  std::string standby() const;
  // Ends a term whose time is over. Call it several times a second.
  void check();
  // Ends the term, and gives the Lease back if `give_back` and it is held, so that the next one
  // does not wait; then calls `done`. It never leads again.
  void stop(bool give_back, std::function<void()> done);

 private:
  using Steady = std::chrono::steady_clock::time_point;
  using Milliseconds = std::chrono::milliseconds;
  struct Seen {
    codec::KubeLease lease;
    bool gone = false;  // it is not there any more; this is what it was
    Steady since{};     // for us it has been so
    Steady last{};      // it was looked at
  };

  void send(Call call, void (LeaderElector::*then)(Result<Reply>));
  void look();
  void looked(Result<Reply> reply);
  void observe(codec::KubeLease lease, bool gone);
  bool ours() const { return seen_ && seen_->lease.holder == options_.identity; }
  // How long it is to be waited for yet.
  Milliseconds taken_for() const;
  void decide();
  // Writes the Lease with this process as holder, or with none (giving_back_).
  void put();
  void answered(Result<Reply> reply);
  void look_again();
  Milliseconds period() const;
  void wait(Milliseconds delay, void (LeaderElector::*then)());
  void renew();
  void trouble(const std::string& what, const Result<Reply>& reply);
  void end_term();
  void stopped();

  Transport& transport_;
  const Clock& clock_;
  Options options_;
  Events events_;
  std::function<double()> jitter_;
  codec::WatchReader<codec::KubeLease> reader_;
  std::optional<Seen> seen_;
  bool leading_ = false;  // a term began and its end was not told
  Steady renewed_{};      // when the last renewal that succeeded was sent
  Steady sent_{};         // when the one under way was
  Clock::Wall acquired_{};
  std::string granted_;  // uid of the Lease that was held last
  std::uint64_t term_ = 0;
  int surprises_ = 0;  // in a row: the Lease was not as it was read
  bool stopping_ = false;
  int returns_ = 0;  // tries to give the Lease back
  std::function<void()> when_stopped_;
  std::unique_ptr<Ticket> ticket_;
};

}  // namespace chipweave::kube
