// PlacementService — the gRPC Placement service. Each unary call becomes one call of PlacementApi
// on the loop; WatchDecisions streams decisions.
#pragma once

#include <memory>

#include "chipweave/v1/placement.grpc.pb.h"
#include "scheduler-plugin/server/grpc_calls.hpp"

namespace chipweave::sched {

class PlacementService final : public v1::Placement::CallbackService {
 public:
  explicit PlacementService(std::shared_ptr<LiveCalls> calls) : calls_(std::move(calls)) {}

  grpc::ServerUnaryReactor* Place(grpc::CallbackServerContext* context,
                                  const v1::PlaceRequest* request, v1::PlaceReply* reply) override;
  grpc::ServerUnaryReactor* Reserve(grpc::CallbackServerContext* context,
                                    const v1::ReserveRequest* request,
                                    v1::PlaceReply* reply) override;
  grpc::ServerUnaryReactor* Release(grpc::CallbackServerContext* context,
                                    const v1::ReleaseRequest* request,
                                    v1::ReleaseReply* reply) override;
  grpc::ServerUnaryReactor* Explain(grpc::CallbackServerContext* context,
                                    const v1::ExplainRequest* request,
                                    v1::ExplainReply* reply) override;
  grpc::ServerUnaryReactor* WhatIf(grpc::CallbackServerContext* context,
                                   const v1::WhatIfRequest* request,
                                   v1::PlaceReply* reply) override;
  grpc::ServerWriteReactor<v1::DecisionEvent>* WatchDecisions(
      grpc::CallbackServerContext* context, const v1::WatchDecisionsRequest* request) override;

 private:
  std::shared_ptr<LiveCalls> calls_;
};

}  // namespace chipweave::sched
