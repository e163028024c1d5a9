#include "node-agent/kubelet/pod_resources_client.hpp"

#include <algorithm>
#include <future>
#include <optional>
#include <utility>

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/domain/vendor.hpp"
#include "common/http/mailbox.hpp"
#include "common/obs/log.hpp"
#include "common/rpc/channel.hpp"
#include "common/rpc/status.hpp"
#include "kubelet/pod_resources.grpc.pb.h"

namespace chipweave::agent {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kMaxTextBytes = 300;  // of the kubelet's error message
constexpr const char* kList = "/v1.PodResourcesLister/List";

// The answer is taken as bytes: gRPC reports a unary answer that it cannot parse as a success, with
// whatever it had parsed by then.
using Stub = grpc::TemplatedGenericStub<::v1::ListPodResourcesRequest, grpc::ByteBuffer>;

Result<AllocatedDevices> devices_of(const ::v1::ListPodResourcesResponse& answer,
                                    const std::vector<std::string>& wanted) {
  AllocatedDevices out;
  for (const auto& pod : answer.pod_resources()) {
    for (const auto& container : pod.containers()) {
      const AllocatedDevice any{"", "", pod.namespace_(), pod.name(), container.name()};
      for (const auto& devices : container.devices()) {
        if (!starts_with_any(devices.resource_name(), wanted)) continue;
        for (const std::string& id : devices.device_ids()) {
          out.push_back(any);
          out.back().resource = devices.resource_name();
          out.back().id = id;
        }
      }
      for (const auto& claim : container.dynamic_resources()) {
        for (const auto& device : claim.claim_resources()) {
          const std::string& driver = device.driver_name();
          if (!domain::is_own_driver(driver) &&
              !starts_with_any(domain::resource_of_driver(driver), wanted))
            continue;
          out.push_back(any);
          out.back().id = device.device_name();
          out.back().driver = device.driver_name();
          out.back().pool = device.pool_name();
          out.back().claim = claim.claim_name();
        }
      }
      if (out.size() > kMaxAllocatedDevices) {
        return make_error(Errc::limit_exceeded,
                          "it lists more than " + std::to_string(kMaxAllocatedDevices) +
                              " devices of " + joined(wanted, ", ") +
                              ", more than any machine has: check its device plugins");
      }
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// What the operator can do about it.
std::string advice(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
      return "check that the kubelet runs, that the folder of its socket is mounted here, and that "
             "the agent runs as user 0 (chart: agent.asRoot)";
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return "check whether the kubelet of this node is overloaded or hangs";
    case grpc::StatusCode::UNIMPLEMENTED:
      return "this is not a kubelet of Kubernetes 1.20 or later: check --pod-resources";
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return "the kubelet accepts 100 calls a second from all programs of a node, and a list of at "
             "most 16 MiB is read: check who else calls it, and how many devices are allocated";
    default:
      return "see the kubelet's log";
  }
}

// Gets the answer of a call, on the loop.
class CallOwner {
 public:
  CallOwner() = default;
  CallOwner(const CallOwner&) = delete;
  CallOwner& operator=(const CallOwner&) = delete;
  virtual ~CallOwner() = default;
  virtual void on_answer(Result<AllocatedDevices> allocated) = 0;
};

// One call. Its owner keeps it until the answer: it holds a channel, and the last channel of a
// process joins gRPC's callback threads when it is destroyed, so that must not happen on one of
// them.
class Call final : public grpc::ClientUnaryReactor {
 public:
  Call(const std::shared_ptr<grpc::Channel>& channel, const PodResourcesOptions& options,
       std::shared_ptr<http::Mailbox<CallOwner>> box)
      : box_(std::move(box)), wanted_(options.resources), stub_(channel) {
    context_.set_deadline(std::chrono::system_clock::now() + options.deadline);
    stub_.PrepareUnaryCall(&context_, kList, {}, &request_, &answer_, this);
    StartCall();
  }

  void cancel() { context_.TryCancel(); }
  // After cancel(): until gRPC has done with this object. Any thread but gRPC's.
  void wait_for_end() { ended_->get_future().wait(); }

  void OnDone(const grpc::Status& status) override {
    // The owner may delete this object before post() returns.
    const auto box = box_;
    const auto ended = ended_;
    // Parsed here: a long list would hold up the loop.
    auto allocated = std::make_shared<Result<AllocatedDevices>>(read(status));
    box->post([allocated](CallOwner& owner) { owner.on_answer(std::move(*allocated)); });
    ended->set_value();
  }

 private:
  Result<AllocatedDevices> read(const grpc::Status& status) {
    if (status.ok()) {
      ::v1::ListPodResourcesResponse list;
      using Traits = grpc::SerializationTraits<::v1::ListPodResourcesResponse>;
      if (Traits::Deserialize(&answer_, &list).ok()) return devices_of(list, wanted_);
      return make_error(Errc::invalid_argument,
                        "the answer is not a list of pods: check --pod-resources");
    }
    return make_error(rpc::from_status(status).code,
                      rpc::to_string(status.error_code()) + ": " +
                          with_dots(status.error_message(), kMaxTextBytes) + "; " + advice(status));
  }

  std::shared_ptr<http::Mailbox<CallOwner>> box_;
  std::vector<std::string> wanted_;
  Stub stub_;
  grpc::ClientContext context_;
  ::v1::ListPodResourcesRequest request_;
  grpc::ByteBuffer answer_;
  std::shared_ptr<std::promise<void>> ended_ = std::make_shared<std::promise<void>>();
};

}  // namespace

struct PodResourcesClient::Impl final : CallOwner, std::enable_shared_from_this<Impl> {
  Impl(http::Loop& l, PodResourcesOptions o, PodResourcesEvents e)
      : loop(l),
        options(std::move(o)),
        events(std::move(e)),
        pace(options.gaps, Backoff::seeded(options.seed), Steady::now()),
        box(std::make_shared<http::Mailbox<CallOwner>>(loop, *this)) {}

  void call_kubelet() {
    if (options.permit) {
      permit = options.permit();
      if (permit == nullptr) return wait_until(Steady::now() + options.permit_again);
    }
    // A new one after each failure: a channel backs off on its own when its peer is gone.
    if (channel == nullptr || failing) {
      channel = rpc::make_socket_channel(options.socket, limits::kMaxPodResourcesBytes);
    }
    pace.asked(Steady::now());
    call = std::make_unique<Call>(channel, options, box);
  }

  void changed() {
    pace.changed(Steady::now());
    wait();
  }

  // Until the next call is due. A change may put that off while the timer runs.
  void wait() {
    if (started && call == nullptr) wait_until(pace.due());
  }

  void wait_until(Steady::time_point due) {
    if (timer && *timer <= due) return;
    timer = due;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Steady::now());
    loop.after(std::max(left, std::chrono::milliseconds(0)), [due, weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->timer_over(due);
    });
  }

  void timer_over(Steady::time_point which) {
    if (timer != which) return;  // an earlier one took its place
    timer.reset();
    if (!started || call != nullptr) return;
    pace.due() <= Steady::now() ? call_kubelet() : wait();
  }

  void on_answer(Result<AllocatedDevices> allocated) override {
    call.reset();
    permit.reset();
    if (!allocated) return failed(allocated.error());
    wait();
    if (std::exchange(failing, false) || !last) {
      obs::log(obs::Level::info, "connected to the kubelet", {{"socket", options.socket}});
      if (events.answers) events.answers(true);
    }
    if (last == *allocated) return;
    last = std::move(*allocated);
    if (events.allocated) events.allocated(AllocatedDevices(*last));
  }

  void failed(const Error& error) {
    pace.failed();
    wait();
    if (std::exchange(failing, true)) return;  // once per outage
    obs::log(
        obs::Level::warn,
        last ? "the kubelet does not report which chips pods use: its last answer stays in force"
             : "the kubelet does not report which chips pods use: all are taken as free",
        {{"socket", options.socket}, {"error", error.text()}});
    if (events.answers) events.answers(false);
  }

  http::Loop& loop;
  PodResourcesOptions options;
  PodResourcesEvents events;
  ListPace pace;
  std::optional<Steady::time_point> timer;  // when the one that counts goes off
  std::shared_ptr<http::Mailbox<CallOwner>> box;
  // Kept between calls: gRPC starts its threads for the first channel of a process and joins them
  // with the last.
  std::shared_ptr<grpc::Channel> channel;
  std::shared_ptr<const void> permit;  // for the call; outlives it
  std::unique_ptr<Call> call;
  std::optional<AllocatedDevices> last;
  bool failing = false;
  bool started = false;
};

PodResourcesClient::PodResourcesClient(http::Loop& loop, PodResourcesOptions options,
                                       PodResourcesEvents events)
    : impl_(std::make_shared<Impl>(loop, std::move(options), std::move(events))) {}

PodResourcesClient::~PodResourcesClient() {
  impl_->box->cut();
  if (impl_->call == nullptr) return;
  impl_->call->cancel();
  impl_->call->wait_for_end();
}

void PodResourcesClient::start() {
  if (!std::exchange(impl_->started, true)) impl_->changed();
}

void PodResourcesClient::stop() { impl_->started = false; }

std::function<void()> PodResourcesClient::change_notifier() const {
  return [&loop = impl_->loop, weak = std::weak_ptr<Impl>(impl_)] {
    loop.post([weak] {
      if (const auto impl = weak.lock()) impl->changed();
    });
  };
}

}  // namespace chipweave::agent
