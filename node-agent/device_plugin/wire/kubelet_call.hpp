// KubeletCall — one unary call to the kubelet over its socket. Its owner keeps it until the answer:
// the last channel of a process joins gRPC's callback threads when it is destroyed, so that must
// not happen on one of them.
//
// The answer is taken as bytes: gRPC reports a unary answer that it cannot parse as a success, with
// whatever it had parsed by then.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <utility>

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

namespace chipweave::device_plugin {

template <class Request>
class KubeletCall final : public grpc::ClientUnaryReactor {
 public:
  // Runs on a thread of gRPC, after which this object may be destroyed, and the answer with it.
  using Answered = std::function<void(const grpc::Status&, grpc::ByteBuffer&)>;

  KubeletCall(std::shared_ptr<grpc::Channel> channel, const char* method, Request request,
              std::chrono::milliseconds deadline, Answered answered)
      : channel_(std::move(channel)),
        stub_(channel_),
        request_(std::move(request)),
        answered_(std::move(answered)) {
    context_.set_deadline(std::chrono::system_clock::now() + deadline);
    context_.set_wait_for_ready(true);
    stub_.PrepareUnaryCall(&context_, method, {}, &request_, &answer_, this);
    StartCall();
  }
  ~KubeletCall() override {
    context_.TryCancel();
    ended_->get_future().wait();
  }
  KubeletCall(const KubeletCall&) = delete;
  KubeletCall& operator=(const KubeletCall&) = delete;

  void OnDone(const grpc::Status& status) override {
    const auto ended = ended_;  // the owner may destroy this object from answered_ on
    const auto answered = std::move(answered_);
    answered(status, answer_);
    ended->set_value();
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  grpc::TemplatedGenericStub<Request, grpc::ByteBuffer> stub_;
  grpc::ClientContext context_;
  Request request_;
  grpc::ByteBuffer answer_;
  Answered answered_;
  std::shared_ptr<std::promise<void>> ended_ = std::make_shared<std::promise<void>>();
};

}  // namespace chipweave::device_plugin
