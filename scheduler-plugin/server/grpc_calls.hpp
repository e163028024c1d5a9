// LiveCalls — what the two services of the gRPC server share: who is let in, who waits for an
// answer, and how all of them end at stop().
//
// Lifetime: shared by the services and by every call, so that a task of the loop that runs late
// finds it alive. Thread rules per member. A call ends exactly once: whoever takes it (the loop's
// answer, a failed read or write, abort) finishes it, the others see that it is taken.
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

#include "common/http/loop.hpp"
#include "scheduler-plugin/app/decide.hpp"
#include "scheduler-plugin/server/grpc_server.hpp"

namespace chipweave::sched {

class LiveCall {
 public:
  LiveCall() = default;
  LiveCall(const LiveCall&) = delete;
  LiveCall& operator=(const LiveCall&) = delete;
  virtual ~LiveCall() = default;
  // Finish with this status, as soon as the call can, unless somebody else has finished or is about
  // to. Any thread.
  virtual void abort(const grpc::Status& why) = 0;
};

grpc::Status stopping();  // the server is shutting down

class LiveCalls {
 public:
  LiveCalls(http::Loop& l, Decide& d, GrpcOptions o) : loop(l), decide(d), options(std::move(o)) {}

  http::Loop& loop;
  Decide& decide;  // loop thread only
  const GrpcOptions options;

  enum class Kind { stream, unary };
  // Not OK when the server is shutting down or (unary) too many wait already: the call must refuse
  // itself. Any thread.
  grpc::Status add(const std::shared_ptr<LiveCall>& call, Kind kind);
  void remove(const LiveCall* call);
  bool closing() const { return closing_; }

  // Whether the caller shows what there must be to let it in; the token, if there must be one. Any
  // thread.
  grpc::Status look_at(const grpc::CallbackServerContext& context, std::string& token) const;
  // Loop thread; then: on it too, at once or later. A stream that a token let in lives for a while
  // only: whoever lost the right to it must not follow it for ever.
  void let_in(const std::shared_ptr<LiveCall>& call, Kind kind, std::string token,
              std::function<void(const grpc::Status&)> then);
  void end_overdue();
  // A call has ended so. Any thread.
  void count(const char* method, const grpc::Status& status) const;

  // No call is added from now on.
  void close() { closing_ = true; }
  void abort(Kind kind);
  // True when no unary call waits any more.
  bool wait_for_unary(std::chrono::milliseconds at_most);

 private:
  struct Entry {
    std::shared_ptr<LiveCall> call;
    Kind kind;
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<const LiveCall*, Entry> calls_;
  std::size_t unary_ = 0;
  std::atomic<bool> closing_{false};
};

}  // namespace chipweave::sched
