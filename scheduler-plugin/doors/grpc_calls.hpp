// LiveCalls — what the two services of the gRPC door share: who waits for an answer, and how all of
// them end at stop().
//
// Lifetime: shared by the services and by every call, so that a task of the loop that runs late
// finds it alive. Thread rules per member. A call ends exactly once: whoever takes it (the loop's
// answer, a failed read or write, abort) finishes it, the others see that it is taken.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "common/http/loop.hpp"
#include "scheduler-plugin/app/decide.hpp"
#include "scheduler-plugin/doors/grpc_server.hpp"

namespace chipweave::sched {

class LiveCall {
 public:
  LiveCall() = default;
  LiveCall(const LiveCall&) = delete;
  LiveCall& operator=(const LiveCall&) = delete;
  virtual ~LiveCall() = default;
  // The door closes: finish with UNAVAILABLE unless somebody else has finished or is about to. Any
  // thread.
  virtual void abort() = 0;
};

class LiveCalls {
 public:
  LiveCalls(http::Loop& l, Decide& d, GrpcOptions o) : loop(l), decide(d), options(std::move(o)) {}

  http::Loop& loop;
  Decide& decide;  // loop thread only
  const GrpcOptions options;

  enum class Kind { stream, unary };
  // False when the door is closing or (unary) too many wait already: the call must refuse itself.
  // Any thread.
  bool add(const std::shared_ptr<LiveCall>& call, Kind kind);
  void remove(const LiveCall* call);
  bool closing() const { return closing_; }

  // No call is added from now on.
  void close() { closing_ = true; }
  void abort(Kind kind);
  // True when no unary call waits any more.
  bool wait_for_unary(std::chrono::milliseconds at_most);

 private:
  struct Entry {
    std::shared_ptr<LiveCall> call;
    Kind kind;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<const LiveCall*, Entry> calls_;
  std::size_t unary_ = 0;
  std::atomic<bool> closing_{false};
};

}  // namespace chipweave::sched
