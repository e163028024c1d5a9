// LiveCalls — shared by the two gRPC services: authorisation, calls that wait for an answer, and
// their end at stop().
//
// Lifetime: shared by the services and by every call, so that a task of the loop that runs late
// finds it alive. Thread rules per member. A call ends exactly once: the first of the loop's
// answer, a failed read or write, and abort finishes it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include "common/base/limits.hpp"
#include "common/http/loop.hpp"
#include "scheduler-plugin/app/inventory_sink.hpp"
#include "scheduler-plugin/app/placement_api.hpp"
#include "scheduler-plugin/server/caller_audit.hpp"
#include "scheduler-plugin/server/grpc_auth.hpp"
#include "scheduler-plugin/server/grpc_server.hpp"
#include "scheduler-plugin/server/grpc_slots.hpp"

namespace chipweave::sched {

class LiveCall {
 public:
  LiveCall() = default;
  LiveCall(const LiveCall&) = delete;
  LiveCall& operator=(const LiveCall&) = delete;
  virtual ~LiveCall() = default;
  // Finishes with this status as soon as possible, unless the call has already ended. Any thread.
  virtual void abort(const grpc::Status& why) = 0;
};

grpc::Status stopping();         // the server is shutting down
grpc::Status message_is_late();  // the caller has not sent its message in time

class LiveCalls {
 public:
  LiveCalls(http::Loop& l, InventorySink* i, PlacementApi& p, GrpcOptions o)
      : loop(l), inventory(i), placements(p), options(std::move(o)) {}

  http::Loop& loop;
  InventorySink* inventory;  // loop thread only; null: agents cannot report here
  PlacementApi& placements;  // loop thread only
  const GrpcOptions options;
  MessageSlots slots{limits::kMaxGrpcMessages};

  enum class Kind { stream, unary };
  // Not OK when the server is shutting down, too many streams are open or too many calls are
  // waiting: the call must then finish with this status. Any thread.
  grpc::Status add(const std::shared_ptr<LiveCall>& call, Kind kind);
  void remove(const LiveCall* call);
  bool closing() const { return closing_; }

  // Whether the caller presents the required credentials for its method; keeps the token if one is
  // required. Any thread.
  grpc::Status look_at(const grpc::CallbackServerContext& context, GrpcCaller& caller);
  // Loop thread; `then` is called there too, at once or later. A stream authorised by a token has a
  // limited lifetime, so that a revoked caller cannot follow it forever.
  void let_in(const std::shared_ptr<LiveCall>& call, Kind kind, GrpcCaller caller,
              std::function<void(const grpc::Status&)> then);
  void end_overdue();
  // Logs a caller without permission; user: the owner of its token, if known. Any thread.
  void refused(const GrpcCaller& caller, const std::string& user, const grpc::Status& why);
  // Once a second.
  void tick_audit();
  // Parses messages one after the other: while it is parsed, a message may take many times its
  // size. Any thread.
  template <typename Parse>
  auto one_at_a_time(Parse parse) {
    const std::lock_guard lock(parsing_);
    return parse();
  }
  // Counts a call that ended with this status. Any thread.
  void count(const char* method, const grpc::Status& status) const;

  // Refuses further calls.
  void close() { closing_ = true; }
  void abort(Kind kind);
  // True once no unary call is waiting.
  bool wait_for_unary(std::chrono::milliseconds at_most);

 private:
  struct Entry {
    std::shared_ptr<LiveCall> call;
    Kind kind;
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
  };
  grpc::Status check_caller(const grpc::CallbackServerContext& context, GrpcCaller& caller) const;

  std::mutex parsing_;
  std::mutex auditing_;
  CallerAudit audit_;  // under auditing_
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<const LiveCall*, Entry> calls_;
  std::size_t unary_ = 0;
  std::atomic<bool> closing_{false};
};

}  // namespace chipweave::sched
