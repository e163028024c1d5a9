#include "scheduler-plugin/server/grpc_unary.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "common/obs/log.hpp"
#include "common/rpc/status.hpp"

namespace chipweave::sched {

grpc::ServerUnaryReactor* UnaryCall::begin(const std::shared_ptr<LiveCalls>& calls,
                                           grpc::CallbackServerContext* context, const char* method,
                                           Result<Work> work) {
  auto call = std::make_shared<UnaryCall>(calls, context, method);
  UnaryCall* raw = call.get();
  raw->self_ = call;
  std::string token;
  grpc::Status refused = calls->look_at(*context, token);
  if (refused.ok() && !work && !calls->options.check_token) refused = rpc::to_status(work.error());
  if (refused.ok()) refused = calls->add(call, LiveCalls::Kind::unary);
  if (!refused.ok()) {
    raw->answer(refused);
    return raw;
  }
  calls->loop.post([call = std::move(call), token = std::move(token), work = std::move(work)] {
    call->calls_->let_in(call, LiveCalls::Kind::unary, token,
                         [call, work](const grpc::Status& status) {
                           status.ok() ? call->run(work) : call->answer(status);
                         });
  });
  return raw;
}

void UnaryCall::answer(const grpc::Status& status) {
  if (taken_.exchange(true)) return;
  calls_->count(method_, status);
  Finish(status);
}

void UnaryCall::run(const Result<Work>& work) {
  if (taken_.exchange(true)) return;
  const grpc::Status status = outcome(work);
  calls_->count(method_, status);
  Finish(status);
}

// The call is not finished yet, so its context is still valid. gRPC may report an expired deadline
// only after the loop has reached the call, so the deadline is checked here too.
grpc::Status UnaryCall::outcome(const Result<Work>& work) {
  if (context_->IsCancelled())
    return {grpc::StatusCode::CANCELLED, "the caller has disconnected; nothing was done"};
  if (context_->deadline() <= std::chrono::system_clock::now()) {
    return {grpc::StatusCode::DEADLINE_EXCEEDED,
            "the deadline passed before the call was handled; nothing was done"};
  }
  if (!work) return rpc::to_status(work.error());
  try {
    return work.value()(calls_->placements);
  } catch (const std::exception& e) {
    obs::log(obs::Level::error, "placement call failed", {{"error", e.what()}});
    return {grpc::StatusCode::INTERNAL, "internal error; see the scheduler's log"};
  }
}

void UnaryCall::OnDone() {
  calls_->remove(this);
  const std::shared_ptr<UnaryCall> last = std::move(self_);
}

}  // namespace chipweave::sched
