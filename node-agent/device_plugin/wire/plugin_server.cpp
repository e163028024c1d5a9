#include "node-agent/device_plugin/wire/plugin_server.hpp"

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "common/http/mailbox.hpp"
#include "common/rpc/status.hpp"
#include "kubelet/device_plugin.grpc.pb.h"
#include "node-agent/device_plugin/wire/open_calls.hpp"

namespace chipweave::device_plugin {
namespace {

constexpr int kMaxMessageBytes = 1 << 20;
constexpr std::size_t kMaxHeldBytes = std::size_t{32} << 20U;
constexpr std::chrono::milliseconds kEndWithin{500};

struct LoopSide {
  KubeletCalls calls;  // loop thread
};
using Box = http::Mailbox<LoopSide>;

DeviceStream::List list_of(const std::vector<OfferedDevice>& devices) {
  auto out = std::make_shared<::v1beta1::ListAndWatchResponse>();
  for (const OfferedDevice& device : devices) {
    ::v1beta1::Device& one = *out->add_devices();
    one.set_id(device.id);
    one.set_health(device.healthy ? "Healthy" : "Unhealthy");
  }
  return out;
}

template <class Strings>
Ids ids_of(const Strings& strings) {
  return {strings.begin(), strings.end()};
}

void write(const Handed& handed, ::v1beta1::ContainerAllocateResponse& to) {
  if (!handed.answer.empty()) {
    to.ParseFromString(handed.answer);
    return;
  }
  for (const auto& [name, value] : handed.environment) (*to.mutable_envs())[name] = value;
  for (const std::string& name : handed.cdi) to.add_cdi_devices()->set_name(name);
  for (const std::string& node : handed.nodes) {
    ::v1beta1::DeviceSpec& spec = *to.add_devices();
    spec.set_container_path(node);
    spec.set_host_path(node);
    spec.set_permissions("rw");
  }
}

class Service final : public ::v1beta1::DevicePlugin::CallbackService {
 public:
  Service(std::shared_ptr<OpenCalls> open, std::shared_ptr<Box> box)
      : open_(std::move(open)), box_(std::move(box)) {}

  grpc::ServerUnaryReactor* GetDevicePluginOptions(
      grpc::CallbackServerContext* context, const ::v1beta1::Empty* /*request*/,
      ::v1beta1::DevicePluginOptions* answer) override {
    answer->set_pre_start_required(true);
    answer->set_get_preferred_allocation_available(true);
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  grpc::ServerWriteReactor<::v1beta1::ListAndWatchResponse>* ListAndWatch(
      grpc::CallbackServerContext* /*context*/, const ::v1beta1::Empty* /*request*/) override {
    const auto open = open_;
    const auto box = box_;
    auto stream = std::make_shared<DeviceStream>([open, box](DeviceStream* self) {
      box->post([](LoopSide& side) { side.calls.stream_ended(); });
      open->remove(self);
    });
    DeviceStream* out = stream.get();
    if (open->add(stream)) {
      box->post([](LoopSide& side) { side.calls.stream_opened(); });
      return out;
    }
    // gRPC has it until OnDone.
    class Refused final : public grpc::ServerWriteReactor<::v1beta1::ListAndWatchResponse> {
     public:
      Refused() { Finish(plugin_stops()); }
      void OnDone() override { delete this; }
    };
    return new Refused();
  }

  grpc::ServerUnaryReactor* GetPreferredAllocation(
      grpc::CallbackServerContext* context, const ::v1beta1::PreferredAllocationRequest* request,
      ::v1beta1::PreferredAllocationResponse* answer) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    if (request->container_requests_size() != 1) {
      reactor->Finish({grpc::StatusCode::INVALID_ARGUMENT, "expected one container"});
      return reactor;
    }
    const auto& asked = request->container_requests(0);
    if (too_many(asked.available_device_ids_size() + asked.must_include_device_ids_size(), reactor))
      return reactor;
    AskedPreference ask{ids_of(asked.available_device_ids()),
                        ids_of(asked.must_include_device_ids()), asked.allocation_size()};
    wait_for<Ids>(
        reactor,
        [ask](KubeletCalls& calls, KubeletCalls::Reply<Ids> reply) {
          calls.preferred(ask, std::move(reply));
        },
        [answer](const Ids& ids) {
          auto& one = *answer->add_container_responses();
          for (const std::string& id : ids) one.add_device_ids(id);
        });
    return reactor;
  }

  grpc::ServerUnaryReactor* Allocate(grpc::CallbackServerContext* context,
                                     const ::v1beta1::AllocateRequest* request,
                                     ::v1beta1::AllocateResponse* answer) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    std::vector<Ids> containers;
    int ids = request->container_requests_size();
    for (const auto& one : request->container_requests()) ids += one.devices_ids_size();
    if (too_many(ids, reactor)) return reactor;
    for (const auto& one : request->container_requests())
      containers.push_back(ids_of(one.devices_ids()));
    wait_for<std::vector<Handed>>(
        reactor,
        [containers](KubeletCalls& calls, KubeletCalls::Reply<std::vector<Handed>> reply) {
          calls.allocate(containers, std::move(reply));
        },
        [answer](const std::vector<Handed>& all) {
          for (const Handed& one : all) write(one, *answer->add_container_responses());
        });
    return reactor;
  }

  grpc::ServerUnaryReactor* PreStartContainer(
      grpc::CallbackServerContext* context, const ::v1beta1::PreStartContainerRequest* request,
      ::v1beta1::PreStartContainerResponse* /*answer*/) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    if (too_many(request->devices_ids_size(), reactor)) return reactor;
    const auto call = open_->add(reactor);
    if (call == nullptr) return reactor;
    box_->post([open = open_, call, ids = ids_of(request->devices_ids())](LoopSide& side) {
      side.calls.pre_start(ids, [open, call](const Result<void>& result) {
        open->remove(call);
        call->finish(result ? grpc::Status::OK : rpc::to_status(result.error()));
      });
    });
    return reactor;
  }

 private:
  static bool too_many(int ids, grpc::ServerUnaryReactor* reactor) {
    if (static_cast<std::size_t>(ids) <= kMaxAskedIds) return false;
    reactor->Finish({grpc::StatusCode::RESOURCE_EXHAUSTED, "more devices than any machine has"});
    return true;
  }

  // ask: on the loop. fill: writes the answer, which lives until then.
  template <class T, class AskLoop, class Fill>
  void wait_for(grpc::ServerUnaryReactor* reactor, AskLoop ask, Fill fill) {
    const auto call = open_->add(reactor);
    if (call == nullptr) return;
    box_->post([open = open_, call, ask, fill](LoopSide& side) {
      ask(side.calls, [open, call, fill](const Result<T>& result) {
        open->remove(call);
        if (!result) return call->finish(rpc::to_status(result.error()));
        call->finish(grpc::Status::OK, [&] { fill(*result); });
      });
    });
  }

  std::shared_ptr<OpenCalls> open_;
  std::shared_ptr<Box> box_;
};

void remove_file(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

}  // namespace

struct PluginServer::Impl {
  Impl(http::Loop& loop, std::string path, KubeletCalls calls)
      : socket(std::move(path)),
        side{std::move(calls)},
        box(std::make_shared<Box>(loop, side)),
        open(std::make_shared<OpenCalls>(kMaxWaitingCalls)),
        service(open, box) {}

  std::string socket;
  LoopSide side;
  std::shared_ptr<Box> box;
  std::shared_ptr<OpenCalls> open;
  Service service;
  std::unique_ptr<grpc::Server> server;
};

PluginServer::PluginServer() = default;

Result<std::unique_ptr<PluginServer>> PluginServer::start(
    http::Loop& loop, const std::string& socket, KubeletCalls calls,
    const std::vector<OfferedDevice>& devices) {
  std::unique_ptr<PluginServer> out(new PluginServer());
  out->impl_ = std::make_unique<Impl>(loop, socket, std::move(calls));
  out->offer(devices);
  remove_file(socket);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  builder.SetResourceQuota(grpc::ResourceQuota("device plugin").Resize(kMaxHeldBytes));
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.RegisterService(&out->impl_->service);
  out->impl_->server = builder.BuildAndStart();
  std::error_code ignored;
  if (out->impl_->server == nullptr || !std::filesystem::exists(socket, ignored))
    return make_error(Errc::unavailable, "cannot listen on " + socket);
  return out;
}

PluginServer::~PluginServer() {
  impl_->box->cut();
  impl_->open->close();
  if (impl_->server != nullptr) {
    impl_->server->Shutdown(std::chrono::system_clock::now() + kEndWithin);
    impl_->server.reset();
  }
  remove_file(impl_->socket);
}

void PluginServer::offer(const std::vector<OfferedDevice>& devices) {
  impl_->open->offer(list_of(devices));
}

}  // namespace chipweave::device_plugin
