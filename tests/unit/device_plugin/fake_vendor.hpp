// FakeVendor — a vendor's device plugin over real sockets: registers in a folder as with a kubelet,
// and answers with all that a plugin may answer with.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "kubelet/device_plugin.grpc.pb.h"
#include "tests/unit/device_plugin/sim_kubelet.hpp"

namespace chipweave::device_plugin::test {

class FakeVendor final : public ::v1beta1::DevicePlugin::Service {
 public:
  explicit FakeVendor(std::string folder) : folder_(std::move(folder)) {}
  ~FakeVendor() override { stop(); }

  void start() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = false;
    }
    std::filesystem::remove(folder_ + "/vendor.sock");
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + folder_ + "/vendor.sock", grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      changed_.notify_all();
    }
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
  }
  grpc::Status enrol(const std::string& resource = kGpu, const std::string& version = "v1beta1",
                     const std::string& endpoint = "vendor.sock") {
    const auto stub = ::v1beta1::Registration::NewStub(grpc::CreateChannel(
        "unix:" + folder_ + "/kubelet.sock", grpc::InsecureChannelCredentials()));
    ::v1beta1::RegisterRequest request;
    request.set_version(version);
    request.set_resource_name(resource);
    request.set_endpoint(endpoint);
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    ::v1beta1::Empty answer;
    return stub->Register(&context, request, &answer);
  }
  void offer(std::vector<std::pair<std::string, bool>> devices) {
    const std::lock_guard lock(mutex_);
    devices_ = std::move(devices);
    ++version_;
    changed_.notify_all();
  }
  void set_pre_start(grpc::Status answer) {
    const std::lock_guard lock(mutex_);
    pre_start_ = std::move(answer);
    wants_pre_start_ = true;
  }
  void set_allocate(grpc::Status answer, std::chrono::milliseconds after) {
    const std::lock_guard lock(mutex_);
    allocate_ = std::move(answer);
    allocate_after_ = after;
  }
  int pre_starts() {
    const std::lock_guard lock(mutex_);
    return pre_starts_;
  }

  grpc::Status GetDevicePluginOptions(grpc::ServerContext*, const ::v1beta1::Empty*,
                                      ::v1beta1::DevicePluginOptions* answer) override {
    const std::lock_guard lock(mutex_);
    answer->set_pre_start_required(wants_pre_start_);
    return grpc::Status::OK;
  }
  grpc::Status ListAndWatch(grpc::ServerContext* context, const ::v1beta1::Empty*,
                            grpc::ServerWriter<::v1beta1::ListAndWatchResponse>* writer) override {
    std::unique_lock lock(mutex_);
    int sent = -1;
    while (!stopped_ && !context->IsCancelled()) {
      if (sent != version_) {
        sent = version_;
        ::v1beta1::ListAndWatchResponse list;
        for (const auto& [id, healthy] : devices_) {
          auto& device = *list.add_devices();
          device.set_id(id);
          device.set_health(healthy ? "Healthy" : "Unhealthy");
        }
        lock.unlock();
        writer->Write(list);
        lock.lock();
      }
      changed_.wait_for(lock, std::chrono::milliseconds(20));
    }
    return grpc::Status::OK;
  }
  grpc::Status Allocate(grpc::ServerContext*, const ::v1beta1::AllocateRequest* request,
                        ::v1beta1::AllocateResponse* answer) override {
    std::unique_lock lock(mutex_);
    grpc::Status status = allocate_;
    const auto wait = allocate_after_;
    lock.unlock();
    std::this_thread::sleep_for(wait);
    if (!status.ok()) return status;
    for (const auto& container : request->container_requests()) {
      auto& one = *answer->add_container_responses();
      std::string all;
      for (const std::string& id : container.devices_ids()) all += (all.empty() ? "" : "+") + id;
      (*one.mutable_envs())["VENDOR_DEVICES"] = all;
      (*one.mutable_annotations())["vendor"] = "yes";
      auto& mount = *one.add_mounts();
      mount.set_container_path("/usr/local/vendor");
      mount.set_host_path("/opt/vendor");
      mount.set_read_only(true);
      one.add_cdi_devices()->set_name("vendor.com/gpu=" + all);
      one.add_devices()->set_host_path("/dev/vendor");
    }
    return grpc::Status::OK;
  }
  grpc::Status PreStartContainer(grpc::ServerContext*, const ::v1beta1::PreStartContainerRequest*,
                                 ::v1beta1::PreStartContainerResponse*) override {
    const std::lock_guard lock(mutex_);
    ++pre_starts_;
    return pre_start_;
  }

 private:
  std::string folder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  int version_ = 0;
  std::vector<std::pair<std::string, bool>> devices_;
  grpc::Status allocate_;
  std::chrono::milliseconds allocate_after_{0};
  bool wants_pre_start_ = false;
  grpc::Status pre_start_;
  int pre_starts_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace chipweave::device_plugin::test
