// LeaderElector — leader election among several processes through a Lease of the API server: the
// process that holds the Lease leads for as long as it renews it.
//
// The holder measures its term from the time it sent the last successful renewal, the others from
// the time they last saw the Lease change, each by its own monotonic clock; the timestamps in the
// Lease are ignored. Because renew_deadline is shorter than lease_duration, a holder stops leading
// before another process may take the Lease, even if it was suspended meanwhile: holds() compares
// with the clock at each call. The difference (lease_duration - renew_deadline) covers requests
// that the holder has already sent; the Lease does not protect against one that takes longer to
// reach the API server's store. A Lease is written only in the version that was read (409
// otherwise).
//
// A process that could not read the Lease for a while starts its measurement again. A deleted Lease
// is waited out as if it were held, unless none was ever seen: do not delete the Lease of a leader.
//
// Its requests follow a fixed period, retry_period, and no Backoff: a replica that waited longer
// after each failure would lose the Lease, or be the last to see that it is free. A leader whose
// request failed retries even sooner. Up to a fifth of the period is random, and standbys honour
// the server's Retry-After.
//
// Owner: the loop thread. The destructor ends the election without a request to the API server.
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
  // Upper limit of lease_duration, and of how long another holder is waited for, whatever the Lease
  // says.
  static constexpr std::chrono::milliseconds kMaxLease{600'000};

  // Preconditions: renew_deadline > retry_period, lease_duration > renew_deadline.
  struct Options {
    std::string ns;
    std::string name;
    std::string identity;  // unique to this process; a restarted process needs a new one
    std::chrono::milliseconds lease_duration{3'000};
    std::chrono::milliseconds renew_deadline{2'000};
    std::chrono::milliseconds retry_period{400};
  };
  // Each is called after the event has happened.
  struct Events {
    // Called before the Lease is taken; false: keep watching only.
    std::function<bool()> may_lead;
    // A term has begun. former: the previous holder; empty: none, or this process.
    std::function<void(const std::string& former)> began;
    std::function<void()> ended;  // the term has ended; check() calls it at the latest
    std::function<void(const std::string& what)> failed;  // a request failed and will be retried
  };
  LeaderElector(Transport& transport, const Clock& clock, Options options, Events events,
                std::function<double()> jitter);
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  void start();
  // Whether this process leads at this moment.
  bool holds() const;
  // Counts the terms of this process from 1; 0 before the first.
  std::uint64_t term() const { return term_; }
  // The holder of the Lease; empty: none, or not known yet.
  std::string holder() const;
  // Why this process does not lead, for messages; empty if it leads.
  std::string standby() const;
  // Ends an expired term. Call it several times a second.
  void check();
  // Ends the term, releases a held Lease if `give_back`, so that the next leader need not wait, and
  // calls `done`. This object does not lead again.
  void stop(bool give_back, std::function<void()> done);

 private:
  using Steady = std::chrono::steady_clock::time_point;
  using Milliseconds = std::chrono::milliseconds;
  struct Seen {
    codec::KubeLease lease;
    bool gone = false;  // deleted; `lease` is the last version seen
    Steady since{};     // when this version was first seen
    Steady last{};      // when the Lease was last read
  };

  void send(Call call, void (LeaderElector::*then)(Result<Reply>));
  void look();
  void looked(Result<Reply> reply);
  void observe(codec::KubeLease lease, bool gone);
  bool ours() const { return seen_ && seen_->lease.holder == options_.identity; }
  // How much longer the Lease counts as held by another process.
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
  bool leading_ = false;  // a term began and its end was not reported
  Steady renewed_{};      // when the last renewal that succeeded was sent
  Steady sent_{};         // when the pending one was sent
  Clock::Wall acquired_{};
  std::string granted_;  // uid of the last Lease held
  std::uint64_t term_ = 0;
  int surprises_ = 0;  // consecutive conflicts: the Lease had changed since it was read
  bool stopping_ = false;
  int returns_ = 0;  // attempts to release the Lease
  std::function<void()> when_stopped_;
  std::unique_ptr<Ticket> ticket_;
};

}  // namespace chipweave::kube
