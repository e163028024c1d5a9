// GrpcServer — the gRPC door of the scheduler: agents' reports (Inventory) and other schedulers'
// questions (Placement).
//
// Decodes on gRPC's threads, asks Decide on the loop, answers from there; holds no logic of its
// own. start() and stop() from one thread that is not gRPC's. `loop` and `decide` must outlive the
// server and every task it posted: stop the server before the loop is destroyed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "common/base/limits.hpp"
#include "common/base/result.hpp"
#include "common/http/loop.hpp"
#include "scheduler-plugin/app/decide.hpp"

namespace chipweave::rpc {
class ServerIdentity;
}

namespace chipweave::sched {

struct GrpcOptions {
  std::size_t max_message_bytes = limits::kMaxGrpcMessageBytes;
  int max_streams_per_connection = 1000;
  std::size_t max_nodes = limits::kMaxNodes;  // that live streams may report
  std::size_t max_waiting_calls = 4096;       // Placement calls that wait for the loop
  std::shared_ptr<rpc::ServerIdentity> tls;   // null: in the clear
};

class GrpcServer {
 public:
  GrpcServer(http::Loop& loop, Decide& decide, GrpcOptions options = {});
  ~GrpcServer();  // stop() without grace, if it was not called
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // host_port: "127.0.0.1:0", port 0 is any free one; the port that was taken. Errors:
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
