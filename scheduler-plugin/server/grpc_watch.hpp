// DecisionFeed — streams the decision core's events to gRPC followers (WatchDecisions).
//
// Each follower has a bounded queue; one that cannot keep up is disconnected without affecting the
// loop or the others. The initial list of existing placements is read from the decision core in
// pages, as fast as the follower reads. Loop thread only; shared by the service and by every
// stream, so that a late task finds it alive.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server_context.h>

#include "chipweave/v1/placement.pb.h"
#include "common/base/clock.hpp"
#include "scheduler-plugin/app/observer.hpp"
#include "scheduler-plugin/server/grpc_calls.hpp"

namespace chipweave::sched {

class DecisionFeed final : public Observer {
 public:
  // Shared by the queues of all followers.
  using Event = std::shared_ptr<const v1::DecisionEvent>;
  class Follower {
   public:
    Follower() = default;
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;
    virtual ~Follower() = default;
    virtual void send(const Event& event) = 0;
  };

  explicit DecisionFeed(const Clock& clock) : clock_(clock) {}

  void on(const Observation& seen) override;

  void add(std::shared_ptr<Follower> follower) { followers_.push_back(std::move(follower)); }
  void remove(const Follower* follower);
  std::size_t followers() const { return followers_.size(); }

 private:
  std::int64_t now() const;
  void gone(const PlacedPod& pod);
  void bind_failed(const Binding& binding, const Error& error);
  void publish(v1::DecisionEvent event);

  const Clock& clock_;
  std::vector<std::shared_ptr<Follower>> followers_;
};

// As a DECISION_KIND_BOUND event.
v1::DecisionEvent bound_event(const PlacedPod& pod);

inline constexpr std::string_view kWatchDecisions = "WatchDecisions";  // the method

// Starts a stream, which owns itself.
grpc::ServerGenericBidiReactor* watch_decisions(const std::shared_ptr<LiveCalls>& calls,
                                                grpc::CallbackServerContext* context);

}  // namespace chipweave::sched
