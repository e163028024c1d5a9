// The two forms of calls of ClusterD's services, and those that have not ended (CallSet), so that
// the server can end them without the loop. Internal to scheduler-plugin/server/clusterd.
//
// A call lives until gRPC has done with it and no task of the loop knows it. `mutex_` guards its
// phase and is held over StartWrite and Finish, so that nothing is started on a call that another
// thread has just finished.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/status.h>

#include "common/http/loop.hpp"

namespace chipweave::sched::clusterd {

class Call {
 public:
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;
  // Ends the call, unless it has ended.
  virtual void finish(const grpc::Status& status) = 0;
};

// Any thread.
class CallSet {
 public:
  // False: the server is stopping, and the call must end.
  bool add(const std::shared_ptr<Call>& call) {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    calls_.emplace(call.get(), call);
    return true;
  }
  void remove(const Call* call) {
    const std::lock_guard lock(mutex_);
    calls_.erase(call);
  }
  // Ends all, and those that come later.
  void close() {
    std::unordered_map<const Call*, std::shared_ptr<Call>> all;
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      all = calls_;
    }
    for (const auto& [key, call] : all) call->finish(stopping());
  }
  static grpc::Status stopping() {
    return {grpc::StatusCode::UNAVAILABLE, "chipweave-scheduler is stopping"};
  }

 private:
  std::mutex mutex_;
  bool closed_ = false;
  std::unordered_map<const Call*, std::shared_ptr<Call>> calls_;
};

struct CallContext {
  http::Loop& loop;
  std::shared_ptr<CallSet> calls;
};

// A call with one answer, which the loop gives.
class UnaryCall final : public grpc::ServerUnaryReactor, public Call {
 public:
  explicit UnaryCall(CallContext context) : context_(std::move(context)) {}

  // answer: called on the loop; fills in the response and returns the call's status.
  static UnaryCall* begin(const CallContext& context, std::function<grpc::Status()> answer) {
    auto call = std::make_shared<UnaryCall>(context);
    call->self_ = call;
    UnaryCall* const out = call.get();
    if (!context.calls->add(call)) {
      call->finish(CallSet::stopping());
      return out;
    }
    context.loop.post([call = std::move(call), answer = std::move(answer)] {
      const std::lock_guard lock(call->mutex_);
      if (!std::exchange(call->finished_, true)) call->Finish(answer());
    });
    return out;
  }
  void finish(const grpc::Status& status) override {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(finished_, true)) Finish(status);
  }

 private:
  void OnDone() override {
    context_.calls->remove(this);
    const auto last = std::move(self_);
  }

  CallContext context_;
  std::shared_ptr<UnaryCall> self_;  // until OnDone
  std::mutex mutex_;
  bool finished_ = false;  // under mutex_
};

// A call with a stream of messages, one of which is written at a time.
template <class Message>
class StreamCall : public grpc::ServerWriteReactor<Message>, public Call {
 public:
  StreamCall(CallContext context, std::function<void(StreamCall*)> gone)
      : context_(std::move(context)), gone_(std::move(gone)) {}

  // self: this call. open: called on the loop. gone: likewise, once the call has ended.
  void begin(const std::shared_ptr<StreamCall>& self, std::function<void()> open) {
    self_ = self;
    if (!context_.calls->add(self)) return finish(CallSet::stopping());
    context_.loop.post(std::move(open));
  }
  void finish(const grpc::Status& status) override {
    const std::lock_guard lock(mutex_);
    finish_now(status);
  }

 protected:
  // Makes a change to what is to be sent, and sends it unless a message is being written.
  template <class Change>
  void change(Change make) {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    make();
    write_next();
  }
  // What is to be sent next; null: nothing now. Called under the mutex.
  virtual std::unique_ptr<Message> take() = 0;
  // finish() for take().
  void finish_now(const grpc::Status& status) {
    if (!std::exchange(finished_, true)) this->Finish(status);
  }

 private:
  void OnWriteDone(bool ok) override {
    if (!ok) return finish(grpc::Status::CANCELLED);
    const std::lock_guard lock(mutex_);
    writing_ = nullptr;
    if (!finished_) write_next();
  }
  void OnCancel() override { finish(grpc::Status::CANCELLED); }
  void OnDone() override {
    context_.calls->remove(this);
    context_.loop.post([self = std::move(self_)] { self->gone_(self.get()); });
  }
  void write_next() {
    if (writing_ != nullptr) return;
    auto next = take();
    if (next == nullptr) return;
    writing_ = std::move(next);
    this->StartWrite(writing_.get());
  }

  CallContext context_;
  std::function<void(StreamCall*)> gone_;
  std::shared_ptr<StreamCall> self_;  // until OnDone
  std::mutex mutex_;
  std::unique_ptr<Message> writing_;  // under mutex_; null: none is being written
  bool finished_ = false;             // likewise
};

}  // namespace chipweave::sched::clusterd
