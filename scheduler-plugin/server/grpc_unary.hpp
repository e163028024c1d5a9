// UnaryCall — one unary call, from its arrival until the loop has answered it. Owns itself until
// OnDone.
//
// Served as a stream, which is the same on the wire, because gRPC reads the message of a unary call
// before it asks us. Here the caller is authorised first, and the message is read when the call has
// a slot (MessageSlots), which it keeps until it is answered. Nothing is decided or reserved for a
// caller that is not authorised, has disconnected, or whose deadline has passed.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "common/base/result.hpp"
#include "scheduler-plugin/server/grpc_calls.hpp"

namespace chipweave::sched {

// Calls PlacementApi and fills the reply. Runs on the loop.
using UnaryWork = std::function<grpc::Status(PlacementApi&, grpc::ByteBuffer& reply)>;

struct UnaryMethod {
  const char* name;  // of static lifetime, a label of metrics
  // Runs on gRPC's threads, one message at a time. Errors: the request is invalid.
  Result<UnaryWork> (*prepare)(grpc::ByteBuffer& message);
  GrpcAccess access;  // read: an exception leaves no half-changed state behind
};

class UnaryCall final : public grpc::ServerGenericBidiReactor, public LiveCall, public SlotHolder {
 public:
  static grpc::ServerGenericBidiReactor* begin(const std::shared_ptr<LiveCalls>& calls,
                                               grpc::CallbackServerContext* context,
                                               const UnaryMethod& method);

  UnaryCall(std::shared_ptr<LiveCalls> calls, grpc::CallbackServerContext* context,
            const UnaryMethod& method)
      : calls_(std::move(calls)), context_(context), method_(method) {}

  void abort(const grpc::Status& why) override;
  void slot_granted() override;
  void slot_overdue() override;
  void OnCancel() override { abort({grpc::StatusCode::CANCELLED, "cancelled by the caller"}); }
  void OnReadDone(bool ok) override;
  void OnDone() override;

 private:
  enum class Phase { admitting, waiting, reading, deciding, finished };

  void admit(const grpc::Status& status);
  void read();                              // under mutex_
  void finish(const grpc::Status& status);  // under mutex_
  void run();
  grpc::Status outcome();

  std::shared_ptr<LiveCalls> calls_;
  grpc::CallbackServerContext* context_;  // lives until the call is finished
  const UnaryMethod method_;
  std::shared_ptr<UnaryCall> self_;
  grpc::ByteBuffer message_;  // the reply too
  // Guards the phase; held over StartRead and Finish, so that nothing is started on a call that
  // another thread has just finished.
  std::mutex mutex_;
  Phase phase_ = Phase::admitting;
  UnaryWork work_;
};

}  // namespace chipweave::sched
