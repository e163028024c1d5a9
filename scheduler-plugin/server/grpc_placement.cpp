#include "scheduler-plugin/server/grpc_placement.hpp"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chipweave/v1/placement.pb.h"
#include "common/rpc/status.hpp"
#include "scheduler-plugin/server/grpc_decode.hpp"
#include "scheduler-plugin/server/grpc_message.hpp"
#include "scheduler-plugin/server/grpc_unary.hpp"
#include "scheduler-plugin/server/grpc_watch.hpp"

namespace chipweave::sched {
namespace {

constexpr std::string_view kService = "/chipweave.v1.Placement/";

grpc::Status reply_with(const Result<PlacedChips>& placed, grpc::ByteBuffer& out) {
  if (!placed) return rpc::to_status(placed.error());
  v1::PlaceReply reply;
  reply.set_node(placed->node);
  for (const int chip : placed->chips) reply.add_chips(chip);
  reply.set_gbps(placed->gbps);
  reply.set_best_gbps(placed->best_gbps);
  reply.set_lifetime_ms(placed->lifetime.count());
  return write_message(reply, out);
}

// Of Place and WhatIf. The candidates are views into the request.
template <typename Request>
struct Candidates {
  Request request;
  PodRequest pod;
  std::vector<std::string_view> nodes;
};

template <typename Request>
Result<std::shared_ptr<const Candidates<Request>>> read_candidates(grpc::ByteBuffer& message,
                                                                   PodName name) {
  auto request = parse_message<Request>(message);
  if (!request) return std::move(request).error();
  auto pod = decode_request(request->request(), name);
  if (!pod) return std::move(pod).error();
  auto read = std::make_shared<Candidates<Request>>();
  read->request = std::move(request).value();
  read->pod = std::move(pod).value();
  auto nodes = decode_nodes(read->request.nodes());
  if (!nodes) return std::move(nodes).error();
  read->nodes = std::move(nodes).value();
  return std::shared_ptr<const Candidates<Request>>(std::move(read));
}

Result<UnaryWork> place(grpc::ByteBuffer& message) {
  auto read = read_candidates<v1::PlaceRequest>(message, PodName::required);
  if (!read) return std::move(read).error();
  return UnaryWork([asked = std::move(read).value()](PlacementApi& placements,
                                                     grpc::ByteBuffer& out) {
    return reply_with(placements.place(asked->pod, asked->nodes, asked->request.reserve()), out);
  });
}

Result<UnaryWork> what_if(grpc::ByteBuffer& message) {
  auto read = read_candidates<v1::WhatIfRequest>(message, PodName::optional);
  if (!read) return std::move(read).error();
  return UnaryWork(
      [asked = std::move(read).value()](PlacementApi& placements, grpc::ByteBuffer& out) {
        return reply_with(placements.what_if(asked->pod, asked->nodes), out);
      });
}

Result<UnaryWork> reserve(grpc::ByteBuffer& message) {
  auto request = parse_message<v1::ReserveRequest>(message);
  if (!request) return std::move(request).error();
  auto pod = decode_request(request->request(), PodName::required);
  if (!pod) return std::move(pod).error();
  if (auto ok = check_name(request->node(), "node", false); !ok) return std::move(ok).error();
  return UnaryWork([pod = std::move(pod).value(), node = request->node()](PlacementApi& placements,
                                                                          grpc::ByteBuffer& out) {
    return reply_with(placements.reserve(pod, node), out);
  });
}

Result<UnaryWork> release(grpc::ByteBuffer& message) {
  auto request = parse_message<v1::ReleaseRequest>(message);
  if (!request) return std::move(request).error();
  auto key = decode_key(request->pod());
  if (!key) return std::move(key).error();
  if (auto ok = check_name(request->uid(), "uid", false); !ok) return std::move(ok).error();
  return UnaryWork([key = std::move(key).value(), uid = request->uid()](PlacementApi& placements,
                                                                        grpc::ByteBuffer& out) {
    const Result<void> done = placements.release(key, uid);
    return done ? write_message(v1::ReleaseReply(), out) : rpc::to_status(done.error());
  });
}

Result<UnaryWork> explain(grpc::ByteBuffer& message) {
  auto request = parse_message<v1::ExplainRequest>(message);
  if (!request) return std::move(request).error();
  auto key = decode_key(request->pod());
  if (!key) return std::move(key).error();
  return UnaryWork([key = std::move(key).value()](PlacementApi& placements, grpc::ByteBuffer& out) {
    Result<ExplainText> text = placements.explain(key);
    if (!text) return rpc::to_status(text.error());
    v1::ExplainReply reply;
    reply.set_json(std::move(text->json));
    return write_message(reply, out);
  });
}

// Place decides, although it reserves on request only: callers are checked before their messages
// are read. Those that may only read have WhatIf.
constexpr std::array<UnaryMethod, 5> kUnary{{{"Place", place, GrpcAccess::decide},
                                             {"Reserve", reserve, GrpcAccess::decide},
                                             {"Release", release, GrpcAccess::decide},
                                             {"Explain", explain, GrpcAccess::read},
                                             {"WhatIf", what_if, GrpcAccess::read}}};

}  // namespace

grpc::ServerGenericBidiReactor* PlacementService::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  const std::string& path = context->method();
  if (path.rfind(kService, 0) == 0) {
    const std::string_view name = std::string_view(path).substr(kService.size());
    if (name == kWatchDecisions) return watch_decisions(calls_, context);
    for (const UnaryMethod& method : kUnary) {
      if (name == method.name) return UnaryCall::begin(calls_, context, method);
    }
  }
  return CallbackGenericService::CreateReactor(context);  // UNIMPLEMENTED
}

}  // namespace chipweave::sched
