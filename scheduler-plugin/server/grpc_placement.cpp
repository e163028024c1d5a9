#include "scheduler-plugin/server/grpc_placement.hpp"

#include <string>
#include <utility>
#include <vector>

#include "common/rpc/status.hpp"
#include "scheduler-plugin/server/grpc_decode.hpp"
#include "scheduler-plugin/server/grpc_unary.hpp"
#include "scheduler-plugin/server/grpc_watch.hpp"

namespace chipweave::sched {
namespace {

using Work = UnaryCall::Work;

grpc::Status fill(const Result<PlacedChips>& placed, v1::PlaceReply& reply) {
  if (!placed) return rpc::to_status(placed.error());
  reply.set_node(placed->node);
  for (const int chip : placed->chips) reply.add_chips(chip);
  reply.set_gbps(placed->gbps);
  reply.set_best_gbps(placed->best_gbps);
  reply.set_lifetime_ms(placed->lifetime.count());
  return grpc::Status::OK;
}

// Candidates are views into the request, which lives as long as the reply.
Result<Work> place(const v1::PlaceRequest& request, v1::PlaceReply* reply) {
  auto pod = decode_request(request.ask(), PodName::required);
  if (!pod) return std::move(pod).error();
  auto nodes = decode_nodes(request.nodes());
  if (!nodes) return std::move(nodes).error();
  return Work([pod = std::move(pod).value(), nodes = std::move(nodes).value(),
               reserve = request.reserve(), reply](PlacementApi& placements) {
    return fill(placements.place(pod, nodes, reserve), *reply);
  });
}

Result<Work> reserve(const v1::ReserveRequest& request, v1::PlaceReply* reply) {
  auto pod = decode_request(request.ask(), PodName::required);
  if (!pod) return std::move(pod).error();
  if (auto ok = check_name(request.node(), "node", false); !ok) return std::move(ok).error();
  return Work(
      [pod = std::move(pod).value(), node = request.node(), reply](PlacementApi& placements) {
        return fill(placements.reserve(pod, node), *reply);
      });
}

Result<Work> what_if(const v1::WhatIfRequest& request, v1::PlaceReply* reply) {
  auto pod = decode_request(request.ask(), PodName::optional);
  if (!pod) return std::move(pod).error();
  auto nodes = decode_nodes(request.nodes());
  if (!nodes) return std::move(nodes).error();
  return Work(
      [pod = std::move(pod).value(), nodes = std::move(nodes).value(),
       reply](PlacementApi& placements) { return fill(placements.what_if(pod, nodes), *reply); });
}

Result<Work> release(const v1::ReleaseRequest& request) {
  auto key = decode_key(request.pod());
  if (!key) return std::move(key).error();
  if (auto ok = check_name(request.uid(), "uid", false); !ok) return std::move(ok).error();
  return Work([key = std::move(key).value(), uid = request.uid()](PlacementApi& placements) {
    const Result<void> done = placements.release(key, uid);
    return done ? grpc::Status::OK : rpc::to_status(done.error());
  });
}

Result<Work> explain(const v1::ExplainRequest& request, v1::ExplainReply* reply) {
  auto key = decode_key(request.pod());
  if (!key) return std::move(key).error();
  return Work([key = std::move(key).value(), reply](PlacementApi& placements) {
    Result<ExplainText> text = placements.explain(key);
    if (!text) return rpc::to_status(text.error());
    reply->set_json(std::move(text->json));
    return grpc::Status(grpc::Status::OK);
  });
}

}  // namespace

grpc::ServerUnaryReactor* PlacementService::Place(grpc::CallbackServerContext* context,
                                                  const v1::PlaceRequest* request,
                                                  v1::PlaceReply* reply) {
  return UnaryCall::begin(calls_, context, "Place", place(*request, reply));
}

grpc::ServerUnaryReactor* PlacementService::Reserve(grpc::CallbackServerContext* context,
                                                    const v1::ReserveRequest* request,
                                                    v1::PlaceReply* reply) {
  return UnaryCall::begin(calls_, context, "Reserve", reserve(*request, reply));
}

grpc::ServerUnaryReactor* PlacementService::WhatIf(grpc::CallbackServerContext* context,
                                                   const v1::WhatIfRequest* request,
                                                   v1::PlaceReply* reply) {
  return UnaryCall::begin(calls_, context, "WhatIf", what_if(*request, reply));
}

grpc::ServerUnaryReactor* PlacementService::Release(grpc::CallbackServerContext* context,
                                                    const v1::ReleaseRequest* request,
                                                    v1::ReleaseReply* /*reply*/) {
  return UnaryCall::begin(calls_, context, "Release", release(*request));
}

grpc::ServerUnaryReactor* PlacementService::Explain(grpc::CallbackServerContext* context,
                                                    const v1::ExplainRequest* request,
                                                    v1::ExplainReply* reply) {
  return UnaryCall::begin(calls_, context, "Explain", explain(*request, reply));
}

grpc::ServerWriteReactor<v1::DecisionEvent>* PlacementService::WatchDecisions(
    grpc::CallbackServerContext* context, const v1::WatchDecisionsRequest* request) {
  return watch_decisions(calls_, context, *request);
}

}  // namespace chipweave::sched
