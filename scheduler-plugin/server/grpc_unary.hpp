// UnaryCall — one unary call, from its arrival until the loop has answered it. Owns itself until
// OnDone.
//
// Nothing is decided or reserved for a caller that is not authorised, has disconnected, or whose
// deadline has passed.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include "common/base/result.hpp"
#include "scheduler-plugin/server/grpc_calls.hpp"

namespace chipweave::sched {

class UnaryCall final : public grpc::ServerUnaryReactor, public LiveCall {
 public:
  // Calls PlacementApi and fills the reply, which lives until the call is finished. Runs on the
  // loop.
  using Work = std::function<grpc::Status(PlacementApi&)>;

  // work: an error for an invalid request, which only authorised callers receive.
  // method: of static lifetime, a label of metrics.
  static grpc::ServerUnaryReactor* begin(const std::shared_ptr<LiveCalls>& calls,
                                         grpc::CallbackServerContext* context, const char* method,
                                         Result<Work> work);

  UnaryCall(std::shared_ptr<LiveCalls> calls, grpc::CallbackServerContext* context,
            const char* method)
      : calls_(std::move(calls)), context_(context), method_(method) {}

  void abort(const grpc::Status& why) override { answer(why); }
  void OnCancel() override { answer({grpc::StatusCode::CANCELLED, "cancelled by the caller"}); }
  void OnDone() override;

 private:
  void answer(const grpc::Status& status);
  void run(const Result<Work>& work);
  grpc::Status outcome(const Result<Work>& work);

  std::shared_ptr<LiveCalls> calls_;
  grpc::CallbackServerContext* context_;  // lives until the call is finished
  const char* method_;
  std::shared_ptr<UnaryCall> self_;
  std::atomic<bool> taken_{false};
};

}  // namespace chipweave::sched
