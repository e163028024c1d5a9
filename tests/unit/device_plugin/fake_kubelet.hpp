// FakeKubelet — registration, PodResources and the device manager of a kubelet over real sockets:
// connects to the plugin that registers and calls it as the kubelet does.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "kubelet/device_plugin.grpc.pb.h"
#include "kubelet/pod_resources.grpc.pb.h"
#include "tests/unit/device_plugin/sim_kubelet.hpp"

namespace chipweave::device_plugin::test {

class FakeKubelet {
 public:
  explicit FakeKubelet(std::string folder) : folder_(std::move(folder)) {}
  ~FakeKubelet() { stop(); }
  FakeKubelet(const FakeKubelet&) = delete;
  FakeKubelet& operator=(const FakeKubelet&) = delete;

  // As the kubelet: removes the plugins' sockets first.
  void start() {
    for (const auto& file : std::filesystem::directory_iterator(folder_)) {
      if (file.is_socket() && file.path().filename() != "pods.sock")
        std::filesystem::remove(file.path());
    }
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + folder_ + "/kubelet.sock",
                             grpc::InsecureServerCredentials());
    builder.AddListeningPort("unix:" + folder_ + "/pods.sock", grpc::InsecureServerCredentials());
    builder.RegisterService(&registration_);
    builder.RegisterService(&lister_);
    server_ = builder.BuildAndStart();
  }
  void stop() {
    drop();
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
    std::filesystem::remove(folder_ + "/kubelet.sock");
  }
  // Its sockets stay.
  void kill() {
    stop();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = folder_ + "/kubelet.sock";
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const bool made =
        ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
        ::listen(fd, 1) == 0;
    ::close(fd);
    if (!made) throw std::runtime_error("cannot leave a socket at " + path);
  }
  // Ends the stream to the plugin, as after a broken connection.
  void drop() {
    std::unique_ptr<grpc::ClientContext> context;
    {
      const std::lock_guard lock(mutex_);
      if (watching_) watching_->TryCancel();
    }
    if (watcher_.joinable()) watcher_.join();
    const std::lock_guard lock(mutex_);
    watching_.reset();
    stub_.reset();
  }

  // "id healthy", of the newest list; waits until there is one, with devices, that `good` accepts.
  template <class Good>
  bool devices(const Good& good) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30),
                             [&] { return !devices_.empty() && good(devices_); });
  }
  bool registered(int times) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30),
                             [&] { return registrations_ >= times; });
  }
  int registrations() {
    const std::lock_guard lock(mutex_);
    return registrations_;
  }
  int lists() {
    const std::lock_guard lock(mutex_);
    return lists_;
  }
  // A list while an allocation was in flight.
  bool listed_badly() {
    const std::lock_guard lock(mutex_);
    return bad_lists_ > 0;
  }
  void refuse_lists(bool yes) {
    const std::lock_guard lock(mutex_);
    refuse_lists_ = yes;
  }

  // While it is true, lists are not answered.
  void hold_lists(bool yes) {
    const std::lock_guard lock(mutex_);
    hold_lists_ = yes;
    changed_.notify_all();
  }
  int held_lists() {
    const std::lock_guard lock(mutex_);
    return held_lists_;
  }

  // Admits and allocates; false: the pod fails.
  bool admit(const PodSpec& pod) {
    const auto stub = plugin();
    if (stub == nullptr) return false;
    // The lists that the plugin asks for meanwhile come from other threads.
    const bool ok = sim_admit(pod, *stub);
    return ok;
  }
  grpc::Status start_container(const std::vector<std::string>& ids) {
    const auto stub = plugin();
    if (stub == nullptr) return {grpc::StatusCode::UNAVAILABLE, "not registered"};
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    ::v1beta1::PreStartContainerRequest request;
    for (const std::string& id : ids) request.add_devices_ids(id);
    ::v1beta1::PreStartContainerResponse answer;
    return stub->PreStartContainer(&context, request, &answer);
  }
  grpc::Status start_container(const PodSpec& pod, const std::string& container) {
    return start_container(of(pod, container));
  }
  std::vector<std::string> of(const PodSpec& pod, const std::string& container) {
    const std::lock_guard lock(mutex_);
    return sim_.of(pod.uid, container);
  }
  void remove(const PodSpec& pod) {
    const std::lock_guard lock(mutex_);
    sim_.remove(pod.uid);
  }
  void give(const PodSpec& pod, const std::string& container, std::set<std::string> ids) {
    const std::lock_guard lock(mutex_);
    sim_.give(pod, container, std::move(ids));
  }
  ::v1beta1::AllocateResponse allocated() {
    const std::lock_guard lock(mutex_);
    return allocated_;
  }
  std::shared_ptr<::v1beta1::DevicePlugin::Stub> plugin() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return stub_ != nullptr; });
    return stub_;
  }

 private:
  struct RegistrationService final : ::v1beta1::Registration::Service {
    explicit RegistrationService(FakeKubelet& k) : kubelet(k) {}
    grpc::Status Register(grpc::ServerContext*, const ::v1beta1::RegisterRequest* request,
                          ::v1beta1::Empty*) override {
      kubelet.connect(*request);
      return grpc::Status::OK;
    }
    FakeKubelet& kubelet;
  };
  struct ListerService final : ::v1::PodResourcesLister::Service {
    explicit ListerService(FakeKubelet& k) : kubelet(k) {}
    grpc::Status List(grpc::ServerContext*, const ::v1::ListPodResourcesRequest*,
                      ::v1::ListPodResourcesResponse* answer) override {
      return kubelet.list(*answer);
    }
    FakeKubelet& kubelet;
  };

  void connect(const ::v1beta1::RegisterRequest& request) {
    if (watcher_.joinable()) drop();
    const std::lock_guard lock(mutex_);
    ++registrations_;
    stub_ = ::v1beta1::DevicePlugin::NewStub(grpc::CreateChannel(
        "unix:" + folder_ + "/" + request.endpoint(), grpc::InsecureChannelCredentials()));
    watching_ = std::make_unique<grpc::ClientContext>();
    watcher_ = std::thread([this, stub = stub_, context = watching_.get()] {
      const auto reader = stub->ListAndWatch(context, ::v1beta1::Empty());
      ::v1beta1::ListAndWatchResponse list;
      while (reader->Read(&list)) {
        const std::lock_guard inside(mutex_);
        devices_.clear();
        for (const auto& device : list.devices())
          devices_.push_back(device.id() + " " + device.health());
        changed_.notify_all();
      }
      reader->Finish();
    });
    changed_.notify_all();
  }

  grpc::Status list(::v1::ListPodResourcesResponse& answer) {
    std::unique_lock lock(mutex_);
    ++held_lists_;
    changed_.wait(lock, [&] { return !hold_lists_; });
    --held_lists_;
    ++lists_;
    if (allocating_) ++bad_lists_;
    if (refuse_lists_) return {grpc::StatusCode::RESOURCE_EXHAUSTED, "rejected by rate limit"};
    for (const Listed::Pod& pod : sim_.list().pods) {
      auto& one = *answer.add_pod_resources();
      const std::size_t slash = pod.key.find('/');
      one.set_namespace_(pod.key.substr(0, slash));
      one.set_name(pod.key.substr(slash + 1));
      for (const Listed::Container& container : pod.containers) {
        auto& to = *one.add_containers();
        to.set_name(container.name);
        for (const std::string& id : container.ids) {
          auto& devices = *to.add_devices();
          devices.set_resource_name(kGpu);
          devices.add_device_ids(id);
        }
      }
    }
    return grpc::Status::OK;
  }

  // Serial, as in the kubelet, whose lock is not held while it waits for the plugin.
  bool sim_admit(const PodSpec& pod, ::v1beta1::DevicePlugin::Stub& stub) {
    std::unique_lock lock(mutex_);
    bool failed = false;
    const bool ok =
        sim_.admit(pod, [&](const AskedPreference& asked) -> Result<std::vector<std::string>> {
          lock.unlock();
          ::v1beta1::PreferredAllocationRequest request;
          auto& one = *request.add_container_requests();
          for (const std::string& id : asked.available) one.add_available_device_ids(id);
          for (const std::string& id : asked.must_include) one.add_must_include_device_ids(id);
          one.set_allocation_size(asked.size);
          ::v1beta1::PreferredAllocationResponse answer;
          grpc::ClientContext context;
          context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
          const grpc::Status status = stub.GetPreferredAllocation(&context, request, &answer);
          lock.lock();
          if (!status.ok()) return make_error(Errc::conflict, status.error_message());
          std::vector<std::string> ids(answer.container_responses(0).device_ids().begin(),
                                       answer.container_responses(0).device_ids().end());
          allocating_ = true;
          lock.unlock();
          failed = !allocate(stub, ids) || failed;
          lock.lock();
          allocating_ = false;
          return ids;
        });
    return ok && !failed;
  }

  bool allocate(::v1beta1::DevicePlugin::Stub& stub, const std::vector<std::string>& ids) {
    ::v1beta1::AllocateRequest request;
    auto& one = *request.add_container_requests();
    for (const std::string& id : ids) one.add_devices_ids(id);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    ::v1beta1::AllocateResponse answer;
    // The kubelet takes a while to record it, during which a list would do harm.
    const bool ok = stub.Allocate(&context, request, &answer).ok();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::lock_guard lock(mutex_);
    allocated_ = answer;
    return ok;
  }

  std::string folder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  SimKubelet sim_{8};
  int registrations_ = 0;
  int lists_ = 0;
  int bad_lists_ = 0;
  bool allocating_ = false;
  bool refuse_lists_ = false;
  bool hold_lists_ = false;
  int held_lists_ = 0;
  std::vector<std::string> devices_;
  ::v1beta1::AllocateResponse allocated_;
  std::shared_ptr<::v1beta1::DevicePlugin::Stub> stub_;
  std::unique_ptr<grpc::ClientContext> watching_;
  std::thread watcher_;
  RegistrationService registration_{*this};
  ListerService lister_{*this};
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace chipweave::device_plugin::test
