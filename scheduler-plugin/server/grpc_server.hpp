// GrpcServer — the gRPC server of the scheduler: agents' reports (Inventory) and other schedulers'
// requests (Placement).
//
// Decodes on gRPC's threads, calls the use cases on the loop and answers from there. Call start()
// and stop() from one thread that is not gRPC's. `loop` and `decide` must outlive the server and
// every task it posted: stop the server before the loop is destroyed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/limits.hpp"
#include "common/base/result.hpp"
#include "common/http/loop.hpp"
#include "scheduler-plugin/app/inventory_sink.hpp"
#include "scheduler-plugin/app/observer.hpp"
#include "scheduler-plugin/app/placement_api.hpp"
#include "scheduler-plugin/kube/token_review.hpp"
#include "scheduler-plugin/server/certificate_names.hpp"

namespace chipweave::rpc {
class ServerIdentity;
}

namespace chipweave::sched {

class DecisionFeed;  // grpc_watch.hpp
// The feed of WatchDecisions; register its observer with the scheduler.
std::shared_ptr<DecisionFeed> make_decision_feed(const Clock& clock);
Observer& observer_of(DecisionFeed& feed);

struct GrpcOptions {
  std::size_t max_message_bytes = limits::kMaxGrpcMessageBytes;
  int max_streams_per_connection = 1000;
  std::optional<std::chrono::milliseconds> max_connection_age;  // none: that of rpc::ServerLimits
  std::size_t max_nodes = limits::kMaxNodes;                    // that live streams may report
  std::size_t max_waiting_calls = 4096;  // Placement calls that wait for the loop
  std::size_t max_watchers = 64;         // streams of WatchDecisions
  // Open streams, including those whose callers are still being checked. Where agents report, one
  // more for each node.
  std::size_t max_streams = 1024;
  std::size_t max_watch_queue = 4096;  // events that one of them has not taken
  // How long a closing stream waits for a reader that does not read.
  std::chrono::milliseconds unread_grace = std::chrono::seconds(5);
  std::shared_ptr<rpc::ServerIdentity> tls;  // null: no TLS
  // The source of WatchDecisions; null: the method is not offered.
  std::shared_ptr<DecisionFeed> decisions;
  // Checks a token, called on the loop and answering there; empty: callers need no token.
  std::function<void(std::string token, TokenReviewer::Done done)> check_token;
  CertificateNames names;
  // Lifetime of a stream that was authorised by a token.
  std::chrono::milliseconds token_stream_life = std::chrono::minutes(10);
  // Called when a call has ended, with its method and status name. Any thread.
  std::function<void(std::string_view method, std::string_view code)> on_end;
};

class GrpcServer {
 public:
  // inventory null: the service for agents does not exist.
  GrpcServer(http::Loop& loop, InventorySink* inventory, PlacementApi& placements,
             GrpcOptions options = {});
  ~GrpcServer();  // stop() without grace, if it was not called
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // host_port: "127.0.0.1:0"; port 0 takes any free port. Returns the port. Errors:
  // invalid_argument, unavailable.
  Result<std::uint16_t> start(const std::string& host_port);
  // Ends report streams at once (UNAVAILABLE: agents connect again), refuses new calls, lets
  // Placement calls that wait finish until `grace` has passed, then refuses them too. Called on the
  // loop thread it cannot wait for them and refuses them at once. Never blocks longer than the
  // grace and a moment; agent_gone is not called for ended streams.
  void stop(std::chrono::milliseconds grace);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::sched
