// PushedStream — a call that gets the messages of Subscriptions. Only the newest counts: at most
// two are held, the one being written and the newest. Internal to scheduler-plugin/server/clusterd.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "common/rpc/status.hpp"
#include "scheduler-plugin/server/clusterd/calls.hpp"
#include "scheduler-plugin/server/clusterd/subscriptions.hpp"

namespace chipweave::sched::clusterd {

template <class Message>
class PushedStream final : public StreamCall<Message>, public Subscriptions::Subscriber {
 public:
  // A message from what was pushed for the job.
  using Make = Message (*)(const std::string& job, const std::string& pushed);

  PushedStream(CallContext context, Subscriptions& to, std::string job, Make make)
      : StreamCall<Message>(
            std::move(context),
            [&to](StreamCall<Message>* call) { to.remove(static_cast<PushedStream*>(call)); }),
        job_(std::move(job)),
        make_(make) {}

  static PushedStream* begin(const CallContext& context, Subscriptions& to, std::string job,
                             std::string host, Make make) {
    auto stream = std::make_shared<PushedStream>(context, to, std::move(job), make);
    PushedStream* const out = stream.get();
    out->StreamCall<Message>::begin(stream, [&to, stream, host = std::move(host)] {
      auto subscribed = to.subscribe(stream->job_, host, stream);
      if (!subscribed) stream->finish(rpc::to_status(subscribed.error()));
    });
    return out;
  }

  void send(const Subscriptions::Message& message) override {
    auto made = std::make_unique<Message>(make_(job_, *message));
    this->change([&] { next_ = std::move(made); });
  }
  void end(bool failed) override {
    this->finish(failed ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "another replica leads now")
                        : grpc::Status::OK);
  }

 private:
  std::unique_ptr<Message> take() override { return std::move(next_); }

  const std::string job_;
  const Make make_;
  std::unique_ptr<Message> next_;
};

}  // namespace chipweave::sched::clusterd
