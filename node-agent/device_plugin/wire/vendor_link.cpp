#include "node-agent/device_plugin/wire/vendor_link.hpp"

#include <filesystem>
#include <future>
#include <list>
#include <system_error>
#include <utility>

#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/http/mailbox.hpp"
#include "common/obs/log.hpp"
#include "common/rpc/channel.hpp"
#include "common/rpc/status.hpp"
#include "kubelet/device_plugin.grpc.pb.h"
#include "node-agent/device_plugin/wire/kubelet_call.hpp"

namespace chipweave::device_plugin {
namespace {

constexpr std::size_t kMaxVendorBytes = std::size_t{1} << 20U;
constexpr std::size_t kMaxVendorHeldBytes = std::size_t{16} << 20U;
constexpr int kMaxVendorDevices = 4096;
constexpr const char* kAllocateMethod = "/v1beta1.DevicePlugin/Allocate";
constexpr const char* kStartMethod = "/v1beta1.DevicePlugin/PreStartContainer";
constexpr const char* kOptionsMethod = "/v1beta1.DevicePlugin/GetDevicePluginOptions";

using AllocateCall = KubeletCall<::v1beta1::AllocateRequest>;
using StartCall = KubeletCall<::v1beta1::PreStartContainerRequest>;
using OptionsCall = KubeletCall<::v1beta1::Empty>;

template <class Message>
bool read_message(grpc::ByteBuffer& bytes, Message& to) {
  return grpc::SerializationTraits<Message>::Deserialize(&bytes, &to).ok();
}

// The list of devices of a plugin, for as long as it is connected.
class VendorStream final : public grpc::ClientReadReactor<::v1beta1::ListAndWatchResponse> {
 public:
  using List = std::vector<OfferedDevice>;
  // Both on a thread of gRPC; `ended` once, after which this object may be destroyed.
  VendorStream(const std::shared_ptr<grpc::Channel>& channel, std::function<void(List)> listed,
               std::function<void()> ended)
      : stub_(::v1beta1::DevicePlugin::NewStub(channel)),
        listed_(std::move(listed)),
        ended_(std::move(ended)) {
    context_.set_wait_for_ready(true);
    stub_->async()->ListAndWatch(&context_, &request_, this);
    StartRead(&answer_);
    StartCall();
  }
  ~VendorStream() override {
    context_.TryCancel();
    done_->get_future().wait();
  }
  VendorStream(const VendorStream&) = delete;
  VendorStream& operator=(const VendorStream&) = delete;

  void OnReadDone(bool ok) override {
    if (!ok) return;
    if (answer_.devices_size() > kMaxVendorDevices) return context_.TryCancel();
    List list;
    for (const auto& device : answer_.devices())
      list.push_back({device.id(), device.health() == "Healthy"});
    listed_(std::move(list));
    StartRead(&answer_);
  }
  void OnDone(const grpc::Status& /*status*/) override {
    const auto done = done_;  // the owner may destroy this object from ended_ on
    const auto ended = std::move(ended_);
    ended();
    done->set_value();
  }

 private:
  std::unique_ptr<::v1beta1::DevicePlugin::Stub> stub_;
  grpc::ClientContext context_;
  ::v1beta1::Empty request_;
  ::v1beta1::ListAndWatchResponse answer_;
  std::function<void(List)> listed_;
  std::function<void()> ended_;
  std::shared_ptr<std::promise<void>> done_ = std::make_shared<std::promise<void>>();
};

// What registers, checked.
struct Registered {
  std::string endpoint;
  bool pre_start = false;
};

grpc::Status check_registration(const ::v1beta1::RegisterRequest& request,
                                const std::string& resource) {
  if (request.version() != "v1beta1")
    return {grpc::StatusCode::INVALID_ARGUMENT, "only version v1beta1 is supported"};
  if (request.resource_name() != resource) {
    return {grpc::StatusCode::INVALID_ARGUMENT, "this is chipweave-device-plugin for " + resource +
                                                    ", and no kubelet: it takes no "
                                                    "other resource"};
  }
  const std::string& endpoint = request.endpoint();
  if (endpoint.empty() || endpoint.size() > limits::kMaxNameBytes || endpoint == "kubelet.sock" ||
      endpoint.find('/') != std::string::npos || endpoint.front() == '.')
    return {grpc::StatusCode::INVALID_ARGUMENT, "the endpoint must be the name of a socket file"};
  return grpc::Status::OK;
}

class VendorRegistration final : public ::v1beta1::Registration::CallbackService {
 public:
  VendorRegistration(std::string resource, std::function<void(Registered)> registered)
      : resource_(std::move(resource)), registered_(std::move(registered)) {}
  grpc::ServerUnaryReactor* Register(grpc::CallbackServerContext* context,
                                     const ::v1beta1::RegisterRequest* request,
                                     ::v1beta1::Empty* /*answer*/) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    const grpc::Status status = check_registration(*request, resource_);
    if (status.ok()) registered_({request->endpoint(), request->options().pre_start_required()});
    reactor->Finish(status);
    return reactor;
  }

 private:
  std::string resource_;
  std::function<void(Registered)> registered_;
};

Result<void> clear_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  auto at = std::filesystem::directory_iterator(folder, error);
  if (error) return make_error(Errc::unavailable, folder + ": " + error.message());
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (at->is_socket(ignored)) std::filesystem::remove(at->path(), ignored);
  }
  return {};
}

}  // namespace

struct VendorLink::Impl {
  Impl(http::Loop& l, Options o, Offers f)
      : loop(l),
        options(std::move(o)),
        offers(std::move(f)),
        box(std::make_shared<http::Mailbox<Impl>>(loop, *this)),
        service(options.resource, [box = box](Registered one) {
          box->post([one = std::move(one)](Impl& self) { self.registered(one); });
        }) {}

  void registered(const Registered& one) {
    obs::log(obs::Level::info, "the vendor's device plugin has registered",
             {{"resource", options.resource}, {"endpoint", printable(one.endpoint)}});
    stream.reset();
    asking.reset();
    channel = rpc::make_eager_socket_channel(options.folder + "/" + one.endpoint, kMaxVendorBytes);
    pre_start = one.pre_start;
    ++generation;
    connect();
    asking = std::make_unique<OptionsCall>(
        channel, kOptionsMethod, ::v1beta1::Empty(), options.answer_within,
        [box = box, of = generation](const grpc::Status& status, grpc::ByteBuffer& bytes) {
          ::v1beta1::DevicePluginOptions answer;
          const bool known = status.ok() && read_message(bytes, answer);
          box->post([known, of, wants = answer.pre_start_required()](Impl& self) {
            if (known && of == self.generation) self.pre_start = wants;
            if (of == self.generation) self.asking.reset();
          });
        });
  }

  void connect() {
    stream = std::make_unique<VendorStream>(
        channel,
        [box = box, of = generation](VendorStream::List list) {
          box->post([of, list = std::move(list)](Impl& self) {
            if (of == self.generation) self.offers(list);
          });
        },
        [box = box, of = generation] {
          box->post([of](Impl& self) {
            if (of == self.generation) self.lost();
          });
        });
  }

  void lost() {
    stream.reset();
    ++generation;
    obs::log(obs::Level::warn, "the vendor's device plugin is away",
             {{"resource", options.resource}});
    offers(std::nullopt);
    loop.after(options.connect_again, [box = box, of = generation] {
      box->post([of](Impl& self) {
        if (of == self.generation) self.connect();
      });
    });
  }

  template <class Call, class Request, class Answered>
  void call(std::list<std::unique_ptr<Call>>& calls, const char* method, Request request,
            Answered answered) {
    const auto at = calls.emplace(calls.end());
    *at = std::make_unique<Call>(
        channel, method, std::move(request), options.answer_within,
        [box = box, &calls, at, answered](const grpc::Status& status, grpc::ByteBuffer& bytes) {
          box->post([&calls, at, answered, status, bytes](Impl&) mutable {
            calls.erase(at);
            answered(status, bytes);
          });
        });
  }

  http::Loop& loop;
  Options options;
  Offers offers;
  std::shared_ptr<http::Mailbox<Impl>> box;
  VendorRegistration service;
  std::shared_ptr<grpc::Channel> channel;  // null: it has not registered yet
  bool pre_start = false;
  std::uint64_t generation = 0;  // of the stream
  std::unique_ptr<VendorStream> stream;
  std::unique_ptr<OptionsCall> asking;
  std::list<std::unique_ptr<AllocateCall>> allocations;
  std::list<std::unique_ptr<StartCall>> starts;
  std::unique_ptr<grpc::Server> server;
};

VendorLink::VendorLink() = default;

Result<std::unique_ptr<VendorLink>> VendorLink::start(http::Loop& loop, Options options,
                                                      Offers offers) {
  if (auto ok = clear_folder(options.folder); !ok) return std::move(ok).error();
  const std::string socket = options.folder + "/kubelet.sock";
  std::unique_ptr<VendorLink> out(new VendorLink());
  out->impl_ = std::make_unique<Impl>(loop, std::move(options), std::move(offers));
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  builder.SetResourceQuota(grpc::ResourceQuota("vendor plugin").Resize(kMaxVendorHeldBytes));
  builder.SetMaxReceiveMessageSize(static_cast<int>(kMaxVendorBytes));
  builder.RegisterService(&out->impl_->service);
  out->impl_->server = builder.BuildAndStart();
  std::error_code ignored;
  if (out->impl_->server == nullptr || !std::filesystem::exists(socket, ignored))
    return make_error(Errc::unavailable, "cannot listen on " + socket);
  return out;
}

VendorLink::~VendorLink() {
  impl_->box->cut();
  if (impl_->server != nullptr) impl_->server->Shutdown(std::chrono::system_clock::now());
}

void VendorLink::allocate(const std::vector<std::vector<std::string>>& containers,
                          Reply<std::vector<Handed>> reply) {
  if (impl_->channel == nullptr)
    return reply(make_error(Errc::unavailable, "the vendor's device plugin has not registered"));
  ::v1beta1::AllocateRequest request;
  for (const auto& ids : containers) {
    auto& one = *request.add_container_requests();
    for (const std::string& id : ids) one.add_devices_ids(id);
  }
  const int wanted = request.container_requests_size();
  impl_->call(
      impl_->allocations, kAllocateMethod, std::move(request),
      [wanted, reply = std::move(reply)](const grpc::Status& status, grpc::ByteBuffer& bytes) {
        if (!status.ok()) return reply(rpc::from_status(status));
        ::v1beta1::AllocateResponse answer;
        if (!read_message(bytes, answer) || answer.container_responses_size() != wanted) {
          return reply(make_error(Errc::invalid_argument,
                                  "the vendor's device plugin does not answer for each "
                                  "container"));
        }
        std::vector<Handed> out;
        for (const auto& one : answer.container_responses()) {
          out.emplace_back().answer = one.SerializeAsString();
        }
        reply(std::move(out));
      });
}

void VendorLink::pre_start(const std::vector<std::string>& ids, Reply<void> reply) {
  if (!impl_->pre_start) return reply({});
  ::v1beta1::PreStartContainerRequest request;
  for (const std::string& id : ids) request.add_devices_ids(id);
  impl_->call(impl_->starts, kStartMethod, std::move(request),
              [reply = std::move(reply)](const grpc::Status& status, const grpc::ByteBuffer&) {
                reply(status.ok() ? Result<void>() : rpc::from_status(status));
              });
}

}  // namespace chipweave::device_plugin
