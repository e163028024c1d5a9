#include "node-agent/device_plugin/wire/kubelet_client.hpp"

#include <utility>

#include "common/base/limits.hpp"
#include "common/http/mailbox.hpp"
#include "common/rpc/channel.hpp"
#include "common/rpc/status.hpp"
#include "kubelet/device_plugin.grpc.pb.h"
#include "kubelet/pod_resources.grpc.pb.h"
#include "node-agent/device_plugin/wire/kubelet_call.hpp"

namespace chipweave::device_plugin {
namespace {

using ListCall = KubeletCall<::v1::ListPodResourcesRequest>;
using EnrolCall = KubeletCall<::v1beta1::RegisterRequest>;

constexpr const char* kListMethod = "/v1.PodResourcesLister/List";
constexpr const char* kEnrolMethod = "/v1beta1.Registration/Register";
constexpr std::size_t kMaxEnrolBytes = 64U << 10U;

Result<Listed> read_list(const grpc::Status& status, grpc::ByteBuffer& bytes,
                         const std::string& resource, const std::string& other_resource) {
  if (!status.ok()) return rpc::from_status(status);
  ::v1::ListPodResourcesResponse answer;
  using Traits = grpc::SerializationTraits<::v1::ListPodResourcesResponse>;
  if (!Traits::Deserialize(&bytes, &answer).ok())
    return make_error(Errc::invalid_argument, "the answer is not a list of pods");
  if (static_cast<std::size_t>(answer.pod_resources_size()) > kMaxListedPods)
    return make_error(Errc::limit_exceeded, "it lists more pods than any node has");
  Listed out;
  std::size_t ids = 0;
  for (const auto& pod : answer.pod_resources()) {
    auto& listed = out.pods.emplace_back();
    listed.key = pod.namespace_() + "/" + pod.name();
    for (const auto& container : pod.containers()) {
      auto& one = listed.containers.emplace_back();
      one.name = container.name();
      for (const auto& devices : container.devices()) {
        const bool other = !other_resource.empty() && devices.resource_name() == other_resource;
        if (!other && devices.resource_name() != resource) continue;
        auto& to = other ? one.other_ids : one.ids;
        to.insert(to.end(), devices.device_ids().begin(), devices.device_ids().end());
      }
      ids += one.ids.size() + one.other_ids.size();
      if (ids > kMaxListedIds)
        return make_error(Errc::limit_exceeded, "it lists more devices than any machine has");
    }
  }
  return out;
}

}  // namespace

struct KubeletClient::Impl {
  Impl(http::Loop& loop, Options o)
      : options(std::move(o)), box(std::make_shared<http::Mailbox<Impl>>(loop, *this)) {}

  Options options;
  std::shared_ptr<http::Mailbox<Impl>> box;
  std::shared_ptr<grpc::Channel> lists;
  std::unique_ptr<ListCall> listing;
  std::unique_ptr<EnrolCall> enrolling;
};

KubeletClient::KubeletClient(http::Loop& loop, Options options)
    : impl_(std::make_unique<Impl>(loop, std::move(options))) {}

KubeletClient::~KubeletClient() { impl_->box->cut(); }

bool KubeletClient::listing() const { return impl_->listing != nullptr; }

void KubeletClient::list(std::function<void(Result<Listed>)> done) {
  if (impl_->lists == nullptr) {
    impl_->lists =
        rpc::make_eager_socket_channel(impl_->options.pod_resources, limits::kMaxPodResourcesBytes);
  }
  impl_->listing = std::make_unique<ListCall>(
      impl_->lists, kListMethod, ::v1::ListPodResourcesRequest(), impl_->options.list_deadline,
      [box = impl_->box, resource = impl_->options.resource, other = impl_->options.other_resource,
       done = std::move(done)](const grpc::Status& status, grpc::ByteBuffer& bytes) {
        auto list = std::make_shared<Result<Listed>>(read_list(status, bytes, resource, other));
        box->post([list, done](Impl& self) {
          self.listing.reset();
          done(std::move(*list));
        });
      });
}

void KubeletClient::enrol(const std::string& endpoint, std::function<void(Result<void>)> done) {
  ::v1beta1::RegisterRequest request;
  request.set_version("v1beta1");
  request.set_endpoint(endpoint);
  request.set_resource_name(impl_->options.resource);
  request.mutable_options()->set_pre_start_required(true);
  request.mutable_options()->set_get_preferred_allocation_available(true);
  // A channel of its own each time: it is needed once for each start of the kubelet.
  impl_->enrolling = std::make_unique<EnrolCall>(
      rpc::make_eager_socket_channel(impl_->options.registration, kMaxEnrolBytes), kEnrolMethod,
      std::move(request), impl_->options.register_deadline,
      [box = impl_->box, done = std::move(done)](const grpc::Status& status,
                                                 const grpc::ByteBuffer&) {
        const Result<void> answer = status.ok() ? Result<void>() : rpc::from_status(status);
        box->post([answer, done](Impl& self) {
          self.enrolling.reset();
          done(answer);
        });
      });
}

}  // namespace chipweave::device_plugin
