// PlacementService — the gRPC Placement service. Each unary call becomes one call of PlacementApi
// on the loop; WatchDecisions streams decisions. Generic, so that callers are checked before their
// messages are read (UnaryCall).
#pragma once

#include <memory>
#include <utility>

#include <grpcpp/generic/async_generic_service.h>

#include "scheduler-plugin/server/grpc_calls.hpp"

namespace chipweave::sched {

class PlacementService final : public grpc::CallbackGenericService {
 public:
  explicit PlacementService(std::shared_ptr<LiveCalls> calls) : calls_(std::move(calls)) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;

 private:
  std::shared_ptr<LiveCalls> calls_;
};

}  // namespace chipweave::sched
