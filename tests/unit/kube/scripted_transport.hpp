// ScriptedTransport — holds the one request in flight; the test decides when and how to answer it.
// Time stands still unless the test advances it.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/kube/transport.hpp"

namespace chipweave::kube {

class ScriptedTransport final : public Transport {
 public:
  std::unique_ptr<Ticket> call(Call call, std::function<void(Result<Reply>)> done) override {
    target = call.method == "GET" ? call.target : call.method + " " + call.target;
    body = std::move(call.body);
    accept = std::move(call.accept);
    content_type = std::move(call.content_type);
    deadline = call.deadline;
    may_send = std::move(call.may_send);
    clear();
    on_reply = std::move(done);
    return ticket();
  }
  std::unique_ptr<Ticket> stream(StreamRequest request, StreamSink sink) override {
    target = std::move(request.target);
    accept = std::move(request.accept);
    clear();
    on_stream = std::move(sink);
    return ticket();
  }
  std::unique_ptr<Ticket> after(std::chrono::milliseconds delay,
                                std::function<void()> task) override {
    target = "wait " + std::to_string(delay.count());
    waiting = delay;
    clear();
    on_time = std::move(task);
    return ticket();
  }
  std::chrono::steady_clock::time_point now() const override { return time; }

  // Copied first: an answer may replace the waiting callback.
  void reply(int status, std::string text) {
    const auto done = on_reply;
    done(Reply{status, std::move(text), std::nullopt});
  }
  void fail(Errc code, const std::string& message) {
    const auto done = on_reply;
    done(make_error(code, message));
  }
  void refuse(int status, std::string text) {
    const auto sink = *on_stream;
    sink.refused({status, std::move(text), std::nullopt});
  }
  // One chunk of bytes; false when the stream was cancelled.
  bool bytes(std::string_view text) {
    if (!on_stream) return false;
    const auto sink = *on_stream;
    sink.bytes(text);
    return on_stream.has_value();
  }
  void end(Result<void> result) {
    const auto sink = *on_stream;
    sink.ended(std::move(result));
  }
  // The wait is over.
  void pass_time() {
    time += waiting;
    const auto task = on_time;
    task();
  }
  // Requests whose tickets live.
  int in_flight() const {
    int count = 0;
    for (const bool each : live) count += each ? 1 : 0;
    return count;
  }

  std::string target;  // of the last request; "wait 800" for a wait
  std::string body;
  std::string accept;
  std::string content_type;  // of the last call
  std::chrono::milliseconds deadline{0};
  std::function<bool()> may_send;  // of the last call
  std::chrono::milliseconds waiting{0};
  std::function<void(Result<Reply>)> on_reply;
  std::optional<StreamSink> on_stream;
  std::function<void()> on_time;
  std::chrono::steady_clock::time_point time{};

 private:
  struct Handle final : Ticket {
    explicit Handle(bool& l) : alive(l) { alive = true; }
    ~Handle() override { alive = false; }
    bool& alive;
  };
  std::unique_ptr<Ticket> ticket() {
    live.push_back(false);
    return std::make_unique<Handle>(live.back());
  }
  void clear() {
    on_reply = nullptr;
    on_stream.reset();
    on_time = nullptr;
  }
  std::deque<bool> live;
};

}  // namespace chipweave::kube
