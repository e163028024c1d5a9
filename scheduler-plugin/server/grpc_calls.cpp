#include "scheduler-plugin/server/grpc_calls.hpp"

#include <utility>
#include <vector>

#include "common/base/foreign_text.hpp"
#include "common/rpc/status.hpp"

namespace chipweave::sched {

using Steady = std::chrono::steady_clock;

grpc::Status stopping() {
  return {grpc::StatusCode::UNAVAILABLE, "the scheduler is shutting down; try again"};
}

grpc::Status message_is_late() {
  return {grpc::StatusCode::DEADLINE_EXCEEDED,
          "the message did not arrive within " +
              std::to_string(limits::kGrpcMessageTimeout.count()) + " s"};
}

grpc::Status LiveCalls::add(const std::shared_ptr<LiveCall>& call, Kind kind) {
  const std::lock_guard lock(mutex_);
  if (closing_) return stopping();
  if (kind == Kind::unary) {
    if (unary_ >= options.max_waiting_calls) {
      return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many calls are waiting; try again later"};
    }
    ++unary_;
  } else if (calls_.size() - unary_ >=
             options.max_streams + (inventory == nullptr ? 0 : options.max_nodes)) {
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many streams are open; try again later"};
  }
  calls_.emplace(call.get(), Entry{call, kind});
  return grpc::Status::OK;
}

void LiveCalls::remove(const LiveCall* call) {
  std::shared_ptr<LiveCall> last;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(call);
  if (found == calls_.end()) return;
  if (found->second.kind == Kind::unary) --unary_;
  last = std::move(found->second.call);
  calls_.erase(found);
  changed_.notify_all();
}

grpc::Status LiveCalls::look_at(const grpc::CallbackServerContext& context, GrpcCaller& caller) {
  grpc::Status status = check_caller(context, caller);
  if (!status.ok()) refused(caller, {}, status);
  return status;
}

grpc::Status LiveCalls::check_caller(const grpc::CallbackServerContext& context,
                                     GrpcCaller& caller) const {
  if (auto named = check_names(caller, options.names); !named.ok()) return named;
  if (!options.check_token) return grpc::Status::OK;
  ShownToken shown = shown_token(context);
  caller.token = std::move(shown.token);
  return shown.status;
}

void LiveCalls::let_in(const std::shared_ptr<LiveCall>& call, Kind kind, GrpcCaller caller,
                       std::function<void(const grpc::Status&)> then) {
  if (!options.check_token) return then(grpc::Status::OK);
  std::string token = std::exchange(caller.token, {});
  options.check_token(std::move(token), [this, call, kind, caller = std::move(caller),
                                         then = std::move(then)](const CallerVerdict& verdict) {
    const grpc::Status status = to_status(verdict, caller.access);
    refused(caller, verdict.user, status);
    if (kind == Kind::stream && status.ok()) {
      const std::lock_guard lock(mutex_);
      const auto found = calls_.find(call.get());
      if (found != calls_.end()) found->second.until = Steady::now() + options.token_stream_life;
    }
    then(status);
  });
}

void LiveCalls::refused(const GrpcCaller& caller, const std::string& user,
                        const grpc::Status& why) {
  const bool permission = why.error_code() == grpc::StatusCode::UNAUTHENTICATED ||
                          why.error_code() == grpc::StatusCode::PERMISSION_DENIED;
  if (!permission) return;
  std::string name;
  if (!user.empty()) {
    name = "user " + printable(user);
  } else if (caller.has_certificate) {
    name = caller.names.empty() ? "certificate" : "certificate " + printable(caller.names.front());
  }
  const std::lock_guard lock(auditing_);
  audit_.refused_call({caller.method, caller.from, name, why.error_message()}, Steady::now());
}

void LiveCalls::tick_audit() {
  const std::lock_guard lock(auditing_);
  audit_.tick(Steady::now());
}

void LiveCalls::count(const char* method, const grpc::Status& status) const {
  if (options.on_end) options.on_end(method, rpc::to_string(status.error_code()));
}

void LiveCalls::end_overdue() {
  std::vector<std::shared_ptr<LiveCall>> overdue;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : calls_) {
      if (entry.until <= Steady::now()) overdue.push_back(entry.call);
    }
  }
  for (const std::shared_ptr<LiveCall>& call : overdue) {
    call->abort({grpc::StatusCode::UNAVAILABLE,
                 "the stream has reached the lifetime of a token's stream; call again"});
  }
}

void LiveCalls::abort(Kind kind) {
  std::vector<std::shared_ptr<LiveCall>> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : calls_) {
      if (entry.kind == kind) all.push_back(entry.call);
    }
  }
  // Without the lock: finishing a call may end in remove().
  for (const std::shared_ptr<LiveCall>& call : all) call->abort(stopping());
}

bool LiveCalls::wait_for_unary(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [this] { return unary_ == 0; });
}

}  // namespace chipweave::sched
