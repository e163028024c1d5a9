#include "scheduler-plugin/server/grpc_unary.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "common/obs/log.hpp"
#include "common/rpc/status.hpp"

namespace chipweave::sched {

grpc::ServerGenericBidiReactor* UnaryCall::begin(const std::shared_ptr<LiveCalls>& calls,
                                                 grpc::CallbackServerContext* context,
                                                 const UnaryMethod& method) {
  auto call = std::make_shared<UnaryCall>(calls, context, method);
  UnaryCall* raw = call.get();
  raw->self_ = call;
  GrpcCaller caller = caller_of(*context, method.name, method.access);
  grpc::Status refused = calls->look_at(*context, caller);
  if (refused.ok()) refused = calls->add(call, LiveCalls::Kind::unary);
  if (!refused.ok() || !calls->options.check_token) {
    raw->admit(refused);
    return raw;
  }
  calls->loop.post([call = std::move(call), caller = std::move(caller)] {
    call->calls_->let_in(call, LiveCalls::Kind::unary, caller,
                         [call](const grpc::Status& status) { call->admit(status); });
  });
  return raw;
}

void UnaryCall::admit(const grpc::Status& status) {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::admitting) return;
  if (!status.ok()) return finish(status);
  phase_ = Phase::waiting;
  if (calls_->slots.acquire(self_)) read();
}

void UnaryCall::slot_granted() {
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::waiting) read();
}

void UnaryCall::read() {
  phase_ = Phase::reading;
  StartRead(&message_);
}

void UnaryCall::slot_overdue() {
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::reading) finish(message_is_late());
}

void UnaryCall::abort(const grpc::Status& why) {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::finished) finish(why);
}

void UnaryCall::OnReadDone(bool ok) {
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::reading) return;
    // gRPC itself answers a caller whose message is too large
    if (!ok) return finish({grpc::StatusCode::INVALID_ARGUMENT, "the call has no message"});
    phase_ = Phase::deciding;
  }
  auto work = calls_->one_at_a_time([this] { return method_.prepare(message_); });
  message_.Clear();
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::deciding) return;
    if (!work) return finish(rpc::to_status(work.error()));
    work_ = std::move(work).value();
  }
  calls_->loop.post([self = self_] { self->run(); });
}

void UnaryCall::finish(const grpc::Status& status) {
  phase_ = Phase::finished;
  work_ = nullptr;
  calls_->count(method_.name, status);
  Finish(status);
}

void UnaryCall::run() {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::deciding) return;
  const grpc::Status status = outcome();
  if (!status.ok()) return finish(status);
  phase_ = Phase::finished;
  work_ = nullptr;
  calls_->count(method_.name, status);
  StartWriteAndFinish(&message_, grpc::WriteOptions(), status);
}

// The call is not finished yet, so its context is still valid. gRPC may report an expired deadline
// only after the loop has reached the call, so the deadline is checked here too.
grpc::Status UnaryCall::outcome() {
  if (context_->IsCancelled())
    return {grpc::StatusCode::CANCELLED, "the caller has disconnected; nothing was done"};
  if (context_->deadline() <= std::chrono::system_clock::now()) {
    return {grpc::StatusCode::DEADLINE_EXCEEDED,
            "the deadline passed before the call was handled; nothing was done"};
  }
  try {
    return work_(calls_->placements, message_);
  } catch (const std::exception& e) {
    if (method_.access != GrpcAccess::read)
      throw;  // the state may be half changed: Loop::on_escape() decides
    obs::log(obs::Level::error, "placement call failed", {{"error", e.what()}});
    return {grpc::StatusCode::INTERNAL, "internal error; see the scheduler's log"};
  }
}

void UnaryCall::OnDone() {
  calls_->slots.release(this);
  calls_->remove(this);
  const std::shared_ptr<UnaryCall> last = std::move(self_);
}

}  // namespace chipweave::sched
