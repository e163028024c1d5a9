// FakeKubelet — the PodResources side of a kubelet on a Unix socket: says what a test tells it to.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>

#include "kubelet/pod_resources.grpc.pb.h"

namespace chipweave::agent {

using PodList = ::v1::ListPodResourcesResponse;

// One more pod with one container, as kubelets of 1.36 say it: an entry a device.
inline void add_pod(PodList& list, const std::string& name, const std::string& resource,
                    const std::vector<std::string>& ids) {
  ::v1::PodResources& pod = *list.add_pod_resources();
  pod.set_name(name);
  pod.set_namespace_("default");
  ::v1::ContainerResources& container = *pod.add_containers();
  container.set_name("main");
  for (const std::string& id : ids) {
    ::v1::ContainerDevices& devices = *container.add_devices();
    devices.set_resource_name(resource);
    devices.add_device_ids(id);
  }
}

class FakeKubelet final : public ::v1::PodResourcesLister::Service {
 public:
  explicit FakeKubelet(std::string socket) : socket_(std::move(socket)) { start(); }
  ~FakeKubelet() override { stop(); }
  FakeKubelet(const FakeKubelet&) = delete;
  FakeKubelet& operator=(const FakeKubelet&) = delete;

  // A restart of the kubelet: the socket goes, and comes again.
  void start() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + socket_, grpc::InsecureServerCredentials());
    builder.SetMaxSendMessageSize(-1);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  void stop() {
    set_hanging(false);
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
  }
  bool runs() const { return server_ != nullptr; }

  void say(PodList list) {
    const std::lock_guard lock(mutex_);
    list_ = std::move(list);
    status_ = grpc::Status::OK;
  }
  void refuse(grpc::Status status) {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
  }
  // From now on questions wait until this ends or their asker gives up.
  void set_hanging(bool yes) {
    const std::lock_guard lock(mutex_);
    hanging_ = yes;
    changed_.notify_all();
  }

  int asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

  grpc::Status List(grpc::ServerContext* context, const ::v1::ListPodResourcesRequest* /*asked*/,
                    PodList* answer) override {
    std::unique_lock lock(mutex_);
    ++asked_;
    while (hanging_ && !context->IsCancelled())
      changed_.wait_for(lock, std::chrono::milliseconds(10));
    if (status_.ok()) *answer = list_;
    return status_;
  }

 private:
  std::string socket_;
  std::mutex mutex_;
  std::condition_variable changed_;
  PodList list_;
  grpc::Status status_;
  bool hanging_ = false;
  int asked_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace chipweave::agent
