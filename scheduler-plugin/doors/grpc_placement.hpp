// PlacementService — Place, Release, Explain and WhatIf over gRPC, each one call of Decide on the
// loop.
#pragma once

#include <memory>

#include "chipweave/v1/placement.grpc.pb.h"
#include "scheduler-plugin/doors/grpc_calls.hpp"

namespace chipweave::sched {

class PlacementService final : public v1::Placement::CallbackService {
 public:
  explicit PlacementService(std::shared_ptr<LiveCalls> calls) : calls_(std::move(calls)) {}

  grpc::ServerUnaryReactor* Place(grpc::CallbackServerContext* context,
                                  const v1::PlaceRequest* request, v1::PlaceReply* reply) override;
  grpc::ServerUnaryReactor* Release(grpc::CallbackServerContext* context,
                                    const v1::ReleaseRequest* request,
                                    v1::ReleaseReply* reply) override;
  grpc::ServerUnaryReactor* Explain(grpc::CallbackServerContext* context,
                                    const v1::ExplainRequest* request,
                                    v1::ExplainReply* reply) override;
  grpc::ServerUnaryReactor* WhatIf(grpc::CallbackServerContext* context,
                                   const v1::WhatIfRequest* request,
                                   v1::PlaceReply* reply) override;

 private:
  std::shared_ptr<LiveCalls> calls_;
};

}  // namespace chipweave::sched
