#include "node-agent/dra/server/plugin_server.hpp"

#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>

#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <sys/stat.h>

#include "common/base/endpoint.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/http/mailbox.hpp"
#include "common/obs/log.hpp"
#include "common/rpc/socket_served.hpp"
#include "kubelet/dra.grpc.pb.h"
#include "kubelet/plugin_registration.grpc.pb.h"
#include "node-agent/dra/server/health_streams.hpp"

namespace chipweave::agent::dra {
namespace {

namespace pb = ::k8s::io::kubelet::pkg::apis::dra::v1;
namespace reg = ::pluginregistration;
namespace fs = std::filesystem;

constexpr std::size_t kMaxErrorBytes = 1000;   // of an answer, in the pod's events
constexpr std::size_t kMaxHealthBytes = 1000;  // the kubelet keeps 1024 of a health message
constexpr int kHealthFor = 30;                 // seconds, the kubelet's own
constexpr std::chrono::milliseconds kStopWithin{500};

// A unary call that waits for the loop: ends as unavailable if it gets no answer.
class OpenCall {
 public:
  explicit OpenCall(grpc::ServerUnaryReactor* reactor) : reactor_(reactor) {}
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;
  ~OpenCall() { give_up(); }
  void give_up() { finish(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the driver stops")); }
  void finish(const grpc::Status& status) {
    if (!over_.exchange(true)) reactor_->Finish(status);
  }
  // Its messages are gone.
  bool over() const { return over_; }

 private:
  grpc::ServerUnaryReactor* reactor_;
  std::atomic<bool> over_{false};
};

// The open calls of a server, all of which have to end before it can.
class OpenCalls {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    closed_ = false;
  }
  std::shared_ptr<OpenCall> add(grpc::ServerUnaryReactor* reactor) {
    auto call = std::make_shared<OpenCall>(reactor);
    const std::lock_guard lock(mutex_);
    if (closed_) call->give_up();
    std::erase_if(calls_, [](const std::weak_ptr<OpenCall>& each) { return each.expired(); });
    calls_.push_back(call);
    return call;
  }
  // On the loop: no answer is being written meanwhile.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (const std::weak_ptr<OpenCall>& each : calls_) {
      if (const auto call = each.lock()) call->give_up();
    }
    calls_.clear();
  }

 private:
  std::mutex mutex_;
  bool closed_ = false;
  std::vector<std::weak_ptr<OpenCall>> calls_;
};

template <class Claims>
std::vector<ClaimRef> refs_of(const Claims& claims) {
  std::vector<ClaimRef> out;
  for (const pb::Claim& claim : claims)
    out.push_back({claim.namespace_(), claim.name(), claim.uid()});
  return out;
}

void fill(const PreparedAnswer& answer, pb::NodePrepareResourcesResponse& to) {
  for (const auto& [uid, result] : answer) {
    pb::NodePrepareResourceResponse& one = (*to.mutable_claims())[uid];
    if (!result) {
      one.set_error(with_dots(result.error().text(), kMaxErrorBytes));
      continue;
    }
    for (const GivenDevice& given : *result) {
      pb::Device& device = *one.add_devices();
      device.add_request_names(given.request);
      device.set_pool_name(given.pool);
      device.set_device_name(given.device);
      for (const std::string& name : given.cdi) device.add_cdi_device_ids(name);
    }
  }
}

void fill(const EndedAnswer& answer, pb::NodeUnprepareResourcesResponse& to) {
  for (const auto& [uid, result] : answer) {
    pb::NodeUnprepareResourceResponse& one = (*to.mutable_claims())[uid];
    if (!result) one.set_error(with_dots(result.error().text(), kMaxErrorBytes));
  }
}

std::unique_ptr<grpc::Server> serve(const std::string& path,
                                    const std::vector<grpc::Service*>& services) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + path, grpc::InsecureServerCredentials());
  builder.SetResourceQuota(grpc::ResourceQuota("dra").Resize(limits::kMaxGrpcHeldBytes));
  builder.SetMaxReceiveMessageSize(static_cast<int>(limits::kMaxGrpcMessageBytes));
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, limits::kMaxGrpcMetadataBytes);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  for (grpc::Service* service : services) builder.RegisterService(service);
  return builder.BuildAndStart();
}

// Which file it is, also after a rename.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

FileIdentity identity_of(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

}  // namespace

struct PluginServer::Impl {
  class Registration final : public reg::Registration::CallbackService {
   public:
    explicit Registration(Impl& impl) : impl_(impl) {}
    grpc::ServerUnaryReactor* GetInfo(grpc::CallbackServerContext* context,
                                      const reg::InfoRequest* /*request*/,
                                      reg::PluginInfo* answer) override {
      answer->set_type("DRAPlugin");
      answer->set_name(impl_.options.driver);
      answer->set_endpoint(impl_.driver_socket);
      answer->add_supported_versions("v1.DRAPlugin");
      auto* reactor = context->DefaultReactor();
      reactor->Finish(grpc::Status::OK);
      return reactor;
    }
    grpc::ServerUnaryReactor* NotifyRegistrationStatus(
        grpc::CallbackServerContext* context, const reg::RegistrationStatus* request,
        reg::RegistrationStatusResponse* /*answer*/) override {
      std::string problem;
      if (!request->plugin_registered())
        problem =
            request->error().empty() ? "refused" : with_dots(request->error(), kMaxErrorBytes);
      impl_.box->post([problem](Impl& impl) { impl.events.registered(problem); });
      auto* reactor = context->DefaultReactor();
      reactor->Finish(grpc::Status::OK);
      return reactor;
    }

   private:
    Impl& impl_;
  };

  class Driver final : public pb::DRAPlugin::CallbackService {
   public:
    explicit Driver(Impl& impl) : impl_(impl) {}
    grpc::ServerUnaryReactor* NodePrepareResources(
        grpc::CallbackServerContext* context, const pb::NodePrepareResourcesRequest* request,
        pb::NodePrepareResourcesResponse* answer) override {
      auto* reactor = context->DefaultReactor();
      const auto call = impl_.calls.add(reactor);
      if (too_many(request->claims_size(), *call)) return reactor;
      impl_.box->post([call, answer, refs = refs_of(request->claims())](Impl& impl) {
        if (call->over()) return;
        impl.events.prepare(refs, [call, answer](const PreparedAnswer& prepared) {
          if (call->over()) return;
          fill(prepared, *answer);
          call->finish(grpc::Status::OK);
        });
      });
      return reactor;
    }
    grpc::ServerUnaryReactor* NodeUnprepareResources(
        grpc::CallbackServerContext* context, const pb::NodeUnprepareResourcesRequest* request,
        pb::NodeUnprepareResourcesResponse* answer) override {
      auto* reactor = context->DefaultReactor();
      const auto call = impl_.calls.add(reactor);
      if (too_many(request->claims_size(), *call)) return reactor;
      impl_.box->post([call, answer, refs = refs_of(request->claims())](Impl& impl) {
        if (call->over()) return;
        fill(impl.events.unprepare(refs), *answer);
        call->finish(grpc::Status::OK);
      });
      return reactor;
    }

   private:
    static bool too_many(int claims, OpenCall& call) {
      if (static_cast<std::size_t>(claims) <= kMaxClaimRefs) return false;
      call.finish(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT,
                               "more than " + std::to_string(kMaxClaimRefs) + " claims"));
      return true;
    }
    Impl& impl_;
  };

  class Health final : public ::v1alpha1::DRAResourceHealth::CallbackService {
   public:
    explicit Health(HealthStreams& streams) : streams_(streams) {}
    grpc::ServerWriteReactor<HealthStreams::List>* NodeWatchResources(
        grpc::CallbackServerContext* /*context*/,
        const ::v1alpha1::NodeWatchResourcesRequest* /*request*/) override {
      return streams_.open();
    }

   private:
    HealthStreams& streams_;
  };

  Impl(http::Loop& loop, Options o, Events e)
      : options(std::move(o)),
        events(std::move(e)),
        driver_socket(options.kubelet_folder + "/plugins/" + options.driver + "/dra.sock"),
        registration_socket(options.kubelet_folder + "/plugins_registry/" + options.driver +
                            "-reg.sock"),
        box(std::make_shared<http::Mailbox<Impl>>(loop, *this)),
        registration(*this),
        driver(*this),
        health(streams) {}

  Result<std::unique_ptr<grpc::Server>> listen(const std::string& path, mode_t folder_bits,
                                               const std::vector<grpc::Service*>& services,
                                               FileIdentity& identity) const {
    if (auto ok = check_socket_path(path); !ok) return std::move(ok).error().in("socket " + path);
    const std::string folder = fs::path(path).parent_path().string();
    std::error_code failed;
    const bool made = fs::create_directories(folder, failed);
    if (failed) {
      return make_error(Errc::unavailable,
                        "cannot make the folder " + folder + ": " + failed.message());
    }
    if (made) ::chmod(folder.c_str(), folder_bits);
    if (rpc::is_socket_served(path)) {
      return make_error(Errc::conflict,
                        "another process serves " + path + ": one driver of that name a node");
    }
    // gRPC replaces a socket, and nothing else.
    auto server = serve(path, services);
    identity = identity_of(path);
    if (server == nullptr || identity == FileIdentity{} || ::chmod(path.c_str(), 0600) != 0)
      return make_error(Errc::unavailable, "cannot listen on " + path);
    return server;
  }

  const Options options;
  const Events events;
  const std::string driver_socket;
  const std::string registration_socket;
  std::shared_ptr<http::Mailbox<Impl>> box;
  OpenCalls calls;
  HealthStreams streams;
  Registration registration;
  Driver driver;
  Health health;
  std::vector<DeviceHealthEntry> devices;
  std::unique_ptr<grpc::Server> drivers;
  std::unique_ptr<grpc::Server> registrations;
  FileIdentity driver_file;
  FileIdentity registration_file;
};

PluginServer::PluginServer(http::Loop& loop, Options options, Events events)
    : impl_(std::make_unique<Impl>(loop, std::move(options), std::move(events))) {}

PluginServer::~PluginServer() {
  impl_->box->cut();
  stop();
}

Result<void> PluginServer::start() {
  impl_->streams.reopen();
  impl_->calls.open();
  // The kubelet calls the driver as soon as it finds the registration.
  auto drivers = impl_->listen(impl_->driver_socket, 0700, {&impl_->driver, &impl_->health},
                               impl_->driver_file);
  if (!drivers) return std::move(drivers).error();
  impl_->drivers = std::move(*drivers);
  auto registrations = impl_->listen(impl_->registration_socket, 0750, {&impl_->registration},
                                     impl_->registration_file);
  if (!registrations) {
    stop();
    return std::move(registrations).error();
  }
  impl_->registrations = std::move(*registrations);
  return {};
}

void PluginServer::stop() {
  impl_->streams.close();
  impl_->calls.close();
  const auto deadline = std::chrono::system_clock::now() + kStopWithin;
  for (auto* server : {&impl_->registrations, &impl_->drivers}) {
    if (*server) (*server)->Shutdown(deadline);
    server->reset();
  }
}

bool PluginServer::in_place() const {
  return impl_->registrations != nullptr &&
         identity_of(impl_->driver_socket) == impl_->driver_file &&
         identity_of(impl_->registration_socket) == impl_->registration_file;
}

void PluginServer::health(std::vector<DeviceHealthEntry> devices) {
  impl_->devices = std::move(devices);
  refresh();
}

void PluginServer::refresh() {
  HealthStreams::List list;
  for (const DeviceHealthEntry& device : impl_->devices) {
    ::v1alpha1::DeviceHealth& one = *list.add_devices();
    one.mutable_device()->set_pool_name(impl_->options.node);
    one.mutable_device()->set_device_name(device.device);
    one.set_health(device.healthy ? ::v1alpha1::HEALTHY : ::v1alpha1::UNHEALTHY);
    one.set_last_updated_time(std::time(nullptr));
    one.set_health_check_timeout_seconds(kHealthFor);
    one.set_message(with_dots(device.problem, kMaxHealthBytes));
  }
  impl_->streams.publish(std::move(list));
}

std::string PluginServer::registration_socket() const { return impl_->registration_socket; }
std::string PluginServer::driver_socket() const { return impl_->driver_socket; }

}  // namespace chipweave::agent::dra
