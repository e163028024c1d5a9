// OpenCalls — the calls of the kubelet that are not answered yet, and its streams, so that a server
// can end them all. Any thread. Internal to wire/.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/status.h>

#include "kubelet/device_plugin.pb.h"

namespace chipweave::device_plugin {

inline grpc::Status plugin_stops() {
  return {grpc::StatusCode::UNAVAILABLE, "the device plugin stops or registers anew; try again"};
}

// A unary call; the first finish() counts.
class OpenCall {
 public:
  explicit OpenCall(grpc::ServerUnaryReactor* reactor) : reactor_(reactor) {}
  // fill: writes the answer; not called if the call is over.
  void finish(const grpc::Status& status, const std::function<void()>& fill = nullptr) {
    const std::lock_guard lock(mutex_);
    grpc::ServerUnaryReactor* reactor = std::exchange(reactor_, nullptr);
    if (reactor == nullptr) return;
    if (fill) fill();
    reactor->Finish(status);
  }

 private:
  std::mutex mutex_;
  grpc::ServerUnaryReactor* reactor_;
};

// The stream of a ListAndWatch: sends the newest list, and leaves out those that came meanwhile.
class DeviceStream final : public grpc::ServerWriteReactor<::v1beta1::ListAndWatchResponse> {
 public:
  using List = std::shared_ptr<const ::v1beta1::ListAndWatchResponse>;

  // ended: after the end, on a thread of gRPC.
  explicit DeviceStream(std::function<void(DeviceStream*)> ended) : ended_(std::move(ended)) {}

  void offer(List list) {
    const std::lock_guard lock(mutex_);
    next_ = std::move(list);
    write();
  }
  void end(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    ending_ = status;
    if (!writing_) finish();
  }
  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (!ok && !ending_) ending_ = grpc::Status::CANCELLED;
    ending_ ? finish() : write();
  }
  void OnCancel() override { end(grpc::Status::CANCELLED); }
  void OnDone() override {
    const auto ended = ended_;  // which destroys this object
    ended(this);
  }

 private:
  void write() {
    if (finished_ || writing_ || ending_ || next_ == nullptr) return;
    current_ = std::exchange(next_, nullptr);
    writing_ = true;
    StartWrite(current_.get());
  }
  void finish() {
    if (std::exchange(finished_, true)) return;
    Finish(*ending_);
  }

  std::function<void(DeviceStream*)> ended_;
  std::mutex mutex_;
  List next_;
  List current_;
  bool writing_ = false;
  bool finished_ = false;
  std::optional<grpc::Status> ending_;
};

class OpenCalls {
 public:
  explicit OpenCalls(std::size_t most) : most_(most) {}

  // Null: it is finished already.
  std::shared_ptr<OpenCall> add(grpc::ServerUnaryReactor* reactor) {
    auto call = std::make_shared<OpenCall>(reactor);
    {
      const std::lock_guard lock(mutex_);
      if (!closed_ && calls_.size() < most_) {
        calls_.insert(call);
        return call;
      }
    }
    call->finish(closed() ? plugin_stops()
                          : grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED,
                                         "too many calls are waiting"));
    return nullptr;
  }
  void remove(const std::shared_ptr<OpenCall>& call) {
    const std::lock_guard lock(mutex_);
    calls_.erase(call);
  }

  // False: the server closes.
  bool add(const std::shared_ptr<DeviceStream>& stream) {
    const std::lock_guard lock(mutex_);
    if (closed_ || streams_.size() >= most_) return false;
    streams_.insert(stream);
    if (latest_) stream->offer(latest_);
    return true;
  }
  void remove(DeviceStream* stream) {
    std::shared_ptr<DeviceStream> last;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    for (auto it = streams_.begin(); it != streams_.end(); ++it) {
      if (it->get() != stream) continue;
      last = *it;
      streams_.erase(it);
      return;
    }
  }
  void offer(DeviceStream::List list) {
    const std::lock_guard lock(mutex_);
    latest_ = std::move(list);
    for (const auto& stream : streams_) stream->offer(latest_);
  }
  bool closed() {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  void close() {
    std::set<std::shared_ptr<OpenCall>> calls;
    std::vector<std::shared_ptr<DeviceStream>> streams;
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      calls.swap(calls_);
      streams.assign(streams_.begin(), streams_.end());
    }
    for (const auto& call : calls) call->finish(plugin_stops());
    for (const auto& stream : streams) stream->end(plugin_stops());
  }

 private:
  std::size_t most_;
  std::mutex mutex_;
  bool closed_ = false;
  std::set<std::shared_ptr<OpenCall>> calls_;
  std::set<std::shared_ptr<DeviceStream>> streams_;
  DeviceStream::List latest_;
};

}  // namespace chipweave::device_plugin
