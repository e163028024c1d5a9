#include "common/kube/nominate_pod.hpp"

#include <chrono>
#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/json_writer.hpp"
#include "common/codec/kube/watch.hpp"
#include "common/kube/pod_attempt.hpp"

namespace chipweave::kube {
namespace {

constexpr std::chrono::milliseconds kNominateTime{3'000};

class NominateAttempt : public PodAttempt {
 public:
  NominateAttempt(Transport& transport, NominateRequest request, Done done)
      : PodAttempt(transport, request.ns, request.name, kNominateTime, std::move(done)),
        request_(std::move(request)) {}

  void begin() {
    if (!well_named_ || !is_dns_subdomain(request_.node))
      return fail_later("the name of the namespace, pod or node is invalid");
    JsonWriter w;
    w.begin_object().key("metadata").begin_object().field("uid", request_.uid).end_object();
    w.key("status").begin_object().field("nominatedNodeName", request_.node).end_object();
    Call call = call_of("PATCH", path_ + "/status", w.end_object().take());
    call.content_type = "application/merge-patch+json";
    send_fenced(std::move(call), request_.may_send,
                [this](Result<Reply> reply) { patched(std::move(reply)); });
  }

 private:
  void patched(Result<Reply> reply) {
    if (called_off()) return fail(Errc::not_sent, "the nomination of " + pod_ + " was called off");
    if (!reply) return failed(Errc::unavailable, reply.error().text());
    if (reply->status == kOk) return finish({});
    if (reply->status == kNotFound) return does_not_exist();
    const std::string why =
        "HTTP " + std::to_string(reply->status) + ": " + codec::read_status(reply->body).message;
    // 422: a pod that is bound cannot be nominated any more
    if (reply->status == kConflict || reply->status == kInvalid) return failed(Errc::conflict, why);
    const bool busy = reply->status == kTooManyRequests || reply->status >= kServerError;
    failed(busy ? Errc::unavailable : Errc::invalid_argument, why);
  }

  void failed(Errc code, const std::string& why) {
    fail(code, pod_ + " cannot be nominated for node " + request_.node + ": " + why);
  }

  NominateRequest request_;
};

}  // namespace

std::unique_ptr<Ticket> nominate_pod(Transport& transport, NominateRequest request,
                                     std::function<void(Result<void>)> done) {
  return begin_attempt<NominateAttempt>(transport, std::move(request), std::move(done));
}

}  // namespace chipweave::kube
