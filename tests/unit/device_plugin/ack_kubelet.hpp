// AckKubelet — a kubelet with a plugin for each of two resources that count the same chips: it
// keeps books per resource, as the kubelet does, and so would give a chip away twice.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
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
#include "kubelet/pod_resources.grpc.pb.h"

namespace chipweave::device_plugin::test {

class AckKubelet {
 public:
  using Devices = std::map<std::string, bool>;  // id → healthy
  using Stub = ::v1beta1::DevicePlugin::Stub;

  explicit AckKubelet(std::string folder) : folder_(std::move(folder)) {}
  ~AckKubelet() { stop(); }
  AckKubelet(const AckKubelet&) = delete;
  AckKubelet& operator=(const AckKubelet&) = delete;

  void start() {
    for (const auto& file : std::filesystem::directory_iterator(folder_)) {
      if (file.is_socket()) std::filesystem::remove(file.path());
    }
    grpc::ServerBuilder builder;
    for (const char* socket : {"/kubelet.sock", "/pods.sock"})
      builder.AddListeningPort("unix:" + folder_ + socket, grpc::InsecureServerCredentials());
    builder.RegisterService(&registration_);
    builder.RegisterService(&lister_);
    server_ = builder.BuildAndStart();
  }
  void stop() {
    std::map<std::string, Plugin> former;
    {
      const std::lock_guard lock(mutex_);
      former.swap(plugins_);
    }
    for (auto& entry : former) entry.second.end();
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
    std::filesystem::remove(folder_ + "/kubelet.sock");
  }

  // Ends the connection to one plugin, as after a failure.
  void drop(const std::string& resource) {
    std::map<std::string, Plugin>::node_type former;
    {
      const std::lock_guard lock(mutex_);
      former = plugins_.extract(resource);
    }
    if (former) former.mapped().end();
  }

  // Waits until the newest devices of a resource are like that.
  template <class Good>
  bool offered(const std::string& resource, const Good& good) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] {
      const auto found = histories_.find(resource);
      return found != histories_.end() && !found->second.empty() && good(found->second.back());
    });
  }
  bool offers(const std::string& resource, std::size_t healthy, std::size_t unhealthy = 0) {
    return offered(resource, [&](const Devices& devices) {
      std::size_t good = 0;
      for (const auto& entry : devices) good += entry.second ? 1 : 0;
      return good == healthy && devices.size() == healthy + unhealthy;
    });
  }
  bool listed(const std::string& resource, std::size_t times) {
    return offered(resource, [&](const Devices&) { return histories_[resource].size() >= times; });
  }
  // All lists of a resource that have come.
  std::vector<Devices> history(const std::string& resource) {
    const std::lock_guard lock(mutex_);
    return histories_[resource];
  }
  int lists() {
    const std::lock_guard lock(mutex_);
    return lists_;
  }
  bool lists_after(int before) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return lists_ > before; });
  }
  int lists_while_allocating() {
    const std::lock_guard lock(mutex_);
    return bad_lists_;
  }
  void refuse_lists(bool yes) {
    const std::lock_guard lock(mutex_);
    refuse_lists_ = yes;
  }
  // Called between the preferred set and the allocation.
  void before_allocate(std::function<void()> what) { before_allocate_ = std::move(what); }

  // Admits a pod of one container, "main". False: it is rejected.
  bool admit(const std::string& resource, const std::string& pod, int count) {
    const auto stub = plugin(resource);
    ::v1beta1::PreferredAllocationRequest request;
    auto& one = *request.add_container_requests();
    one.set_allocation_size(count);
    {
      const std::lock_guard lock(mutex_);
      given_[pod];
      const auto used = used_of(resource);
      for (const auto& [id, healthy] : histories_[resource].back()) {
        if (healthy && !used.contains(id)) one.add_available_device_ids(id);
      }
    }
    const bool ok = stub != nullptr && one.available_device_ids_size() >= count &&
                    allocate(resource, pod, *stub, request);
    if (!ok) remove(pod);
    return ok;
  }
  grpc::Status prefer(const std::string& resource, const std::vector<std::string>& available,
                      int count) {
    ::v1beta1::PreferredAllocationRequest request;
    auto& one = *request.add_container_requests();
    for (const std::string& id : available) one.add_available_device_ids(id);
    one.set_allocation_size(count);
    ::v1beta1::PreferredAllocationResponse answer;
    const auto context = patient();
    return plugin(resource)->GetPreferredAllocation(context.get(), request, &answer);
  }
  grpc::Status allocate(const std::string& resource, const std::vector<std::string>& ids) {
    ::v1beta1::AllocateRequest request;
    auto& one = *request.add_container_requests();
    for (const std::string& id : ids) one.add_devices_ids(id);
    ::v1beta1::AllocateResponse answer;
    const auto context = patient();
    return plugin(resource)->Allocate(context.get(), request, &answer);
  }
  grpc::Status start_container(const std::string& resource, const std::vector<std::string>& ids) {
    ::v1beta1::PreStartContainerRequest request;
    for (const std::string& id : ids) request.add_devices_ids(id);
    ::v1beta1::PreStartContainerResponse answer;
    const auto context = patient();
    return plugin(resource)->PreStartContainer(context.get(), request, &answer);
  }
  void give(const std::string& resource, const std::string& pod, std::set<std::string> ids) {
    const std::lock_guard lock(mutex_);
    given_[pod] = {resource, std::move(ids)};
  }
  void remove(const std::string& pod) {
    const std::lock_guard lock(mutex_);
    given_.erase(pod);
  }
  std::set<std::string> of(const std::string& pod) {
    const std::lock_guard lock(mutex_);
    const auto found = given_.find(pod);
    return found == given_.end() ? std::set<std::string>() : found->second.ids;
  }

 private:
  struct Plugin {
    std::shared_ptr<Stub> stub;
    std::shared_ptr<grpc::ClientContext> context;
    std::thread watcher;
    void end() {
      context->TryCancel();
      watcher.join();
    }
  };
  struct Given {
    std::string resource;
    std::set<std::string> ids;
  };
  struct RegistrationService final : ::v1beta1::Registration::Service {
    explicit RegistrationService(AckKubelet& k) : kubelet(k) {}
    grpc::Status Register(grpc::ServerContext*, const ::v1beta1::RegisterRequest* request,
                          ::v1beta1::Empty*) override {
      kubelet.connect(*request);
      return grpc::Status::OK;
    }
    AckKubelet& kubelet;
  };
  struct ListerService final : ::v1::PodResourcesLister::Service {
    explicit ListerService(AckKubelet& k) : kubelet(k) {}
    grpc::Status List(grpc::ServerContext*, const ::v1::ListPodResourcesRequest*,
                      ::v1::ListPodResourcesResponse* answer) override {
      return kubelet.list(*answer);
    }
    AckKubelet& kubelet;
  };

  static std::unique_ptr<grpc::ClientContext> patient() {
    auto out = std::make_unique<grpc::ClientContext>();
    out->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    return out;
  }

  std::shared_ptr<Stub> plugin(const std::string& resource) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return plugins_.contains(resource); });
    return plugins_.contains(resource) ? plugins_.at(resource).stub : nullptr;
  }

  void connect(const ::v1beta1::RegisterRequest& request) {
    const std::string& resource = request.resource_name();
    drop(resource);
    const std::lock_guard lock(mutex_);
    Plugin& one = plugins_[resource];
    one.stub = ::v1beta1::DevicePlugin::NewStub(grpc::CreateChannel(
        "unix:" + folder_ + "/" + request.endpoint(), grpc::InsecureChannelCredentials()));
    one.context = std::make_shared<grpc::ClientContext>();
    one.watcher = std::thread([this, resource, stub = one.stub, context = one.context] {
      const auto reader = stub->ListAndWatch(context.get(), ::v1beta1::Empty());
      ::v1beta1::ListAndWatchResponse list;
      while (reader->Read(&list)) {
        const std::lock_guard inside(mutex_);
        Devices& now = histories_[resource].emplace_back();
        for (const auto& device : list.devices()) now[device.id()] = device.health() == "Healthy";
        changed_.notify_all();
      }
      reader->Finish();
    });
    changed_.notify_all();
  }

  grpc::Status list(::v1::ListPodResourcesResponse& answer) {
    const std::lock_guard lock(mutex_);
    ++lists_;
    if (allocating_) ++bad_lists_;
    changed_.notify_all();
    if (refuse_lists_) return {grpc::StatusCode::RESOURCE_EXHAUSTED, "rejected by rate limit"};
    for (const auto& [pod, given] : given_) {
      auto& one = *answer.add_pod_resources();
      one.set_namespace_("default");
      one.set_name(pod);
      auto& container = *one.add_containers();
      container.set_name("main");
      for (const std::string& id : given.ids) {
        auto& devices = *container.add_devices();
        devices.set_resource_name(given.resource);
        devices.add_device_ids(id);
      }
    }
    return grpc::Status::OK;
  }

  std::set<std::string> used_of(const std::string& resource) const {
    std::set<std::string> out;
    for (const auto& entry : given_) {
      if (entry.second.resource == resource)
        out.insert(entry.second.ids.begin(), entry.second.ids.end());
    }
    return out;
  }

  bool allocate(const std::string& resource, const std::string& pod, Stub& stub,
                const ::v1beta1::PreferredAllocationRequest& asked) {
    ::v1beta1::PreferredAllocationResponse preferred;
    auto context = patient();
    if (!stub.GetPreferredAllocation(context.get(), asked, &preferred).ok()) return false;
    ::v1beta1::AllocateRequest request;
    auto& one = *request.add_container_requests();
    std::set<std::string> ids;
    for (const std::string& id : preferred.container_responses(0).device_ids()) {
      one.add_devices_ids(id);
      ids.insert(id);
    }
    {
      const std::lock_guard lock(mutex_);
      allocating_ = true;
    }
    if (before_allocate_) before_allocate_();
    ::v1beta1::AllocateResponse answer;
    context = patient();
    const bool ok = stub.Allocate(context.get(), request, &answer).ok();
    // The kubelet takes a while to record it, during which a list would do harm.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::lock_guard lock(mutex_);
    allocating_ = false;
    if (ok) given_[pod] = {resource, ids};
    return ok;
  }

  std::string folder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Plugin> plugins_;
  std::map<std::string, std::vector<Devices>> histories_;
  std::map<std::string, Given> given_;  // by pod
  int lists_ = 0;
  int bad_lists_ = 0;
  bool allocating_ = false;
  bool refuse_lists_ = false;
  std::function<void()> before_allocate_;
  RegistrationService registration_{*this};
  ListerService lister_{*this};
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace chipweave::device_plugin::test
