// Subscriptions — who is registered with a service of ClusterD for which job (of job.Job: under
// which id), and gets its messages pushed.
//
// As in MindCluster: a client registers for a job and subscribes then; another registration for the
// job ends the subscription before it, and with a subscription its registration ends. Only the
// newest message counts. Loop thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/clock.hpp"
#include "common/base/result.hpp"
#include "scheduler-plugin/server/clusterd/caller_limits.hpp"

namespace chipweave::sched::clusterd {

class Subscriptions {
 public:
  static constexpr std::size_t kMaxRegistered = 10'000;
  static constexpr std::chrono::minutes kRegistered{10};  // without a subscription

  // Shared by all who get it.
  using Message = std::shared_ptr<const std::string>;
  class Subscriber {
   public:
    virtual ~Subscriber() = default;
    // A new message; one that was not sent yet is out of date.
    virtual void send(const Message& /*message*/) {}
    // Nothing comes any more. failed: the client should try again elsewhere, or later.
    virtual void end(bool failed) = 0;
  };

  // limits: of all services, and outlives this. current: the message that a new subscriber gets for
  // the job; "": none.
  Subscriptions(const Clock& clock, CallerLimits& limits,
                std::function<std::string(const std::string& job)> current)
      : clock_(clock), limits_(limits), current_(std::move(current)) {}

  // Errors: invalid_argument (no possible id), limit_exceeded, unavailable.
  Result<void> register_for(const std::string& job);
  // host: of the client. Errors: not_found (not registered), limit_exceeded, unavailable.
  Result<void> subscribe(const std::string& job, const std::string& host,
                         std::shared_ptr<Subscriber> subscriber);
  // It has gone. Ends its registration.
  void remove(const Subscriber* subscriber);
  // To the job's subscriber, if there is one that does not have it yet.
  void push(const std::string& job, const std::string& message);
  void each_subscribed(const std::function<void(const std::string& job)>& visit) const;
  // leads: this replica leads and knows the cluster; otherwise all are refused. Call it about every
  // second.
  void tick(bool leads);
  std::size_t subscribers() const { return subscribers_; }

 private:
  struct Registration {
    Clock::Steady since{};
    std::string host;
    std::shared_ptr<Subscriber> subscriber;  // null: not yet
    std::string sent;                        // what it has last
  };
  static void push(Registration& to, const std::string& message);
  void drop(Registration& of, bool failed);

  const Clock& clock_;
  CallerLimits& limits_;
  std::function<std::string(const std::string& job)> current_;
  bool leads_ = false;
  std::map<std::string, Registration, std::less<>> registered_;  // by job
  std::size_t subscribers_ = 0;
};

}  // namespace chipweave::sched::clusterd
