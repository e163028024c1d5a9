#include "scheduler-plugin/server/grpc_server.hpp"

#include <algorithm>
#include <utility>

#include "common/rpc/server.hpp"
#include "scheduler-plugin/server/grpc_calls.hpp"
#include "scheduler-plugin/server/grpc_inventory.hpp"
#include "scheduler-plugin/server/grpc_placement.hpp"

namespace chipweave::sched {
namespace {

// How long the transport may take to flush the last statuses.
constexpr std::chrono::milliseconds kFlush{200};
// How often streams authorised by a token are checked.
constexpr std::chrono::milliseconds kLookAtStreams{5000};

void tick_every_second(const std::shared_ptr<LiveCalls>& calls) {
  calls->loop.post([late = std::weak_ptr(calls), &loop = calls->loop] {
    loop.every(std::chrono::seconds(1), [late] {
      const auto live = late.lock();
      if (!live) return;
      live->slots.tell_overdue(MessageSlots::Steady::now() - limits::kGrpcMessageTimeout);
      live->tick_audit();
    });
  });
}

void end_overdue_streams(const std::shared_ptr<LiveCalls>& calls) {
  const auto every = std::min(kLookAtStreams, calls->options.token_stream_life);
  calls->loop.post([every, late = std::weak_ptr(calls), &loop = calls->loop] {
    loop.every(every, [late] {
      if (const auto live = late.lock()) live->end_overdue();
    });
  });
}

}  // namespace

struct GrpcServer::Impl {
  Impl(http::Loop& loop, InventorySink* sink, PlacementApi& placements, GrpcOptions options)
      : calls(std::make_shared<LiveCalls>(loop, sink, placements, std::move(options))),
        inventory(calls) {}

  std::shared_ptr<LiveCalls> calls;
  InventoryService inventory;
  std::unique_ptr<PlacementService> placement;  // a new one for each start that gRPC tries
  std::unique_ptr<grpc::Server> server;
};

GrpcServer::GrpcServer(http::Loop& loop, InventorySink* inventory, PlacementApi& placements,
                       GrpcOptions options)
    : impl_(std::make_unique<Impl>(loop, inventory, placements, std::move(options))) {}

GrpcServer::~GrpcServer() { stop(std::chrono::milliseconds(0)); }

Result<std::uint16_t> GrpcServer::start(const std::string& host_port) {
  const auto endpoint = parse_endpoint(host_port, PortZero::allowed);
  if (!endpoint) return Error(endpoint.error());
  rpc::ServerLimits server_limits;
  server_limits.max_message_bytes = static_cast<int>(impl_->calls->options.max_message_bytes);
  if (impl_->calls->inventory != nullptr)
    server_limits.max_held_bytes = limits::kMaxGrpcAgentsHeldBytes;
  server_limits.max_streams_per_connection = impl_->calls->options.max_streams_per_connection;
  if (const auto age = impl_->calls->options.max_connection_age)
    server_limits.max_connection_age = *age;
  rpc::Services services;
  impl_->placement = std::make_unique<PlacementService>(impl_->calls);
  services.others = impl_->placement.get();
  if (impl_->calls->inventory != nullptr) services.typed.push_back(&impl_->inventory);
  auto started =
      rpc::start_server(*endpoint, services, server_limits, impl_->calls->options.tls.get());
  if (!started) return std::move(started).error();
  impl_->server = std::move(started->server);
  tick_every_second(impl_->calls);
  if (impl_->calls->options.check_token) end_overdue_streams(impl_->calls);
  return started->port;
}

void GrpcServer::stop(std::chrono::milliseconds grace) {
  LiveCalls& calls = *impl_->calls;
  calls.close();
  if (impl_->server == nullptr) return;
  calls.abort(LiveCalls::Kind::stream);
  if (!calls.loop.in_loop_thread()) calls.wait_for_unary(grace);
  calls.abort(LiveCalls::Kind::unary);
  // Every call is finished or about to be; calls whose peer does not read within kFlush are
  // cancelled.
  impl_->server->Shutdown(std::chrono::system_clock::now() + kFlush);
  impl_->server->Wait();
  impl_->server.reset();
}

}  // namespace chipweave::sched
