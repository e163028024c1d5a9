#include "tests/unit/agent_kubelet/fake_kubelet.hpp"

#include <chrono>

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

namespace chipweave::agent {

void add_pod(PodList& list, const std::string& name, const std::string& resource,
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

void FakeKubelet::start() {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket_, grpc::InsecureServerCredentials());
  builder.SetMaxSendMessageSize(-1);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

void FakeKubelet::stop() {
  set_hanging(false);
  if (server_) server_->Shutdown(std::chrono::system_clock::now());
  server_.reset();
}

void FakeKubelet::set_list(PodList list) {
  const std::lock_guard lock(mutex_);
  list_ = std::move(list);
  status_ = grpc::Status::OK;
}

void FakeKubelet::refuse(grpc::Status status) {
  const std::lock_guard lock(mutex_);
  status_ = std::move(status);
}

void FakeKubelet::set_hanging(bool yes) {
  const std::lock_guard lock(mutex_);
  hanging_ = yes;
  changed_.notify_all();
}

int FakeKubelet::calls() {
  const std::lock_guard lock(mutex_);
  return calls_;
}

grpc::Status FakeKubelet::List(grpc::ServerContext* context,
                               const ::v1::ListPodResourcesRequest* /*request*/, PodList* answer) {
  std::unique_lock lock(mutex_);
  ++calls_;
  while (hanging_ && !context->IsCancelled())
    changed_.wait_for(lock, std::chrono::milliseconds(10));
  if (status_.ok()) *answer = list_;
  return status_;
}

}  // namespace chipweave::agent
