#include "scheduler-plugin/doors/grpc_placement.hpp"

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/obs/log.hpp"
#include "common/rpc/status.hpp"
#include "scheduler-plugin/doors/grpc_decode.hpp"

namespace chipweave::sched {
namespace {

// Asks Decide and fills the reply (which lives until the call is finished). Runs on the loop.
using Work = std::function<grpc::Status(Decide&)>;

// One unary call between its arrival and the loop's answer. Owns itself until OnDone.
class UnaryCall final : public grpc::ServerUnaryReactor, public LiveCall {
 public:
  static grpc::ServerUnaryReactor* begin(const std::shared_ptr<LiveCalls>& calls, Work work) {
    auto call = std::make_shared<UnaryCall>(calls);
    call->self_ = call;
    UnaryCall* raw = call.get();
    if (!calls->add(call, LiveCalls::Kind::unary)) {
      raw->answer(calls->closing() ? stopping()
                                   : grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED,
                                                  "too many calls are waiting, try again later"));
      return raw;
    }
    calls->loop.post([call = std::move(call), work = std::move(work)] { call->run(work); });
    return raw;
  }
  static grpc::ServerUnaryReactor* refuse(grpc::CallbackServerContext* context,
                                          const Error& error) {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(rpc::to_status(error));
    return reactor;
  }

  explicit UnaryCall(std::shared_ptr<LiveCalls> calls) : calls_(std::move(calls)) {}

  void abort() override {
    if (!taken_.exchange(true)) Finish(stopping());
  }
  // Nothing is decided, and above all nothing is reserved, for a caller that has gone before its
  // turn.
  void OnCancel() override { answer({grpc::StatusCode::CANCELLED, "cancelled by the caller"}); }
  void OnDone() override {
    calls_->remove(this);
    const std::shared_ptr<UnaryCall> last = std::move(self_);
  }

 private:
  static grpc::Status stopping() {
    return {grpc::StatusCode::UNAVAILABLE, "the scheduler is stopping, try again"};
  }
  void answer(const grpc::Status& status) {
    if (!taken_.exchange(true)) Finish(status);
  }
  void run(const Work& work) {
    if (taken_.exchange(true)) return;
    grpc::Status status;
    try {
      status = work(calls_->decide);
    } catch (const std::exception& e) {
      obs::log(obs::Level::error, "placement call failed", {{"error", e.what()}});
      status = {grpc::StatusCode::INTERNAL, "internal error, see the scheduler's log"};
    }
    Finish(status);
  }

  std::shared_ptr<LiveCalls> calls_;
  std::shared_ptr<UnaryCall> self_;
  std::atomic<bool> taken_{false};
};

grpc::Status fill(const Result<PlacedChips>& placed, v1::PlaceReply& reply) {
  if (!placed) return rpc::to_status(placed.error());
  reply.set_node(placed->node);
  for (const int chip : placed->chips) reply.add_chips(chip);
  reply.set_gbps(placed->gbps);
  reply.set_best_gbps(placed->best_gbps);
  return grpc::Status::OK;
}

}  // namespace

grpc::ServerUnaryReactor* PlacementService::Place(grpc::CallbackServerContext* context,
                                                  const v1::PlaceRequest* request,
                                                  v1::PlaceReply* reply) {
  auto ask = decode_ask(request->ask(), PodName::required);
  if (!ask) return UnaryCall::refuse(context, ask.error());
  auto nodes = decode_nodes(request->nodes());
  if (!nodes) return UnaryCall::refuse(context, nodes.error());
  return UnaryCall::begin(calls_, [ask = std::move(ask).value(), nodes = std::move(nodes).value(),
                                   reserve = request->reserve(), reply](Decide& decide) {
    return fill(decide.place(ask, nodes, reserve), *reply);
  });
}

grpc::ServerUnaryReactor* PlacementService::WhatIf(grpc::CallbackServerContext* context,
                                                   const v1::WhatIfRequest* request,
                                                   v1::PlaceReply* reply) {
  auto ask = decode_ask(request->ask(), PodName::optional);
  if (!ask) return UnaryCall::refuse(context, ask.error());
  auto nodes = decode_nodes(request->nodes());
  if (!nodes) return UnaryCall::refuse(context, nodes.error());
  return UnaryCall::begin(
      calls_, [ask = std::move(ask).value(), nodes = std::move(nodes).value(),
               reply](Decide& decide) { return fill(decide.what_if(ask, nodes), *reply); });
}

grpc::ServerUnaryReactor* PlacementService::Release(grpc::CallbackServerContext* context,
                                                    const v1::ReleaseRequest* request,
                                                    v1::ReleaseReply* /*reply*/) {
  auto key = decode_key(request->pod());
  if (!key) return UnaryCall::refuse(context, key.error());
  return UnaryCall::begin(calls_,
                          [key = std::move(key).value(), uid = request->uid()](Decide& decide) {
                            const Result<void> done = decide.release(key, uid);
                            return done ? grpc::Status::OK : rpc::to_status(done.error());
                          });
}

grpc::ServerUnaryReactor* PlacementService::Explain(grpc::CallbackServerContext* context,
                                                    const v1::ExplainRequest* request,
                                                    v1::ExplainReply* reply) {
  auto key = decode_key(request->pod());
  if (!key) return UnaryCall::refuse(context, key.error());
  return UnaryCall::begin(calls_, [key = std::move(key).value(), reply](Decide& decide) {
    Result<ExplainText> text = decide.explain(key);
    if (!text) return rpc::to_status(text.error());
    reply->set_json(std::move(text->json));
    return grpc::Status(grpc::Status::OK);
  });
}

}  // namespace chipweave::sched
