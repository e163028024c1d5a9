#include "common/kube/ungate_pod.hpp"

#include <algorithm>
#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/json_writer.hpp"
#include "common/codec/kube/pod/nodes/node_pin.hpp"
#include "common/codec/kube/watch.hpp"
#include "common/kube/pod_attempt.hpp"

namespace chipweave::kube {
namespace {

constexpr std::chrono::milliseconds kUngateTime{10'000};  // then the caller may try again

class UngateAttempt : public PodAttempt {
 public:
  UngateAttempt(Transport& transport, UngateRequest request, Done done)
      : PodAttempt(transport, request.ns, request.name, kUngateTime, std::move(done)),
        request_(std::move(request)) {}

  void begin() {
    const bool node_ok = !request_.pin_to || is_dns_subdomain(*request_.pin_to);
    if (!well_named_ || !node_ok)
      return fail_later("the name of the namespace, pod or node is invalid");
    if (request_.pin_to) patch_.terms = codec::pin_terms(*request_.pin_to);
    patch();
  }

 private:
  void patch() {
    Call call = call_of("PATCH", path_, ungate_text(request_, patch_));
    call.content_type = "application/strategic-merge-patch+json";
    send_fenced(std::move(call), request_.may_send,
                [this](Result<Reply> reply) { patched(std::move(reply)); });
  }

  void patched(Result<Reply> reply) {
    if (called_off()) return fail(unclear(), "the ungating of " + pod_ + " was called off");
    if (!reply) return try_again(reply.error().text());
    if (reply->status == kOk) return finish({});
    if (reply->status == kNotFound) return does_not_exist();
    const std::string why = codec::read_status(reply->body).message;
    if (reply->status == kConflict) return read_again("it changes all the time: " + why);
    if (reply->status == kInvalid && !refused_) {
      refused_ = "(HTTP 422): " + why;
      return read();
    }
    refused(*reply, why);
  }

  // To find out why the patch was invalid: another uid, a pin beside the affinity of the pod or
  // after its gate was gone.
  void read() {
    send(call_of("GET", path_, ""), [this](Result<Reply> reply) { found(std::move(reply)); });
  }

  void found(Result<Reply> reply) {
    if (!reply) return read_again(reply.error().text());
    if (reply->status == kNotFound) return does_not_exist();
    if (reply->status != kOk) return refused(*reply, codec::read_status(reply->body).message);
    std::string body = reply->body;
    const auto seen = reader_.read_one(reply->body);
    if (!seen) return read_again(seen.error().text());
    if (seen->uid != request_.uid) return has_another_uid();
    const auto& gates = seen->gates;
    patch_.with_gate = std::find(gates.begin(), gates.end(), request_.gate) != gates.end();
    patch_.terms.clear();
    patch_.version = seen->resource_version;
    if (!patch_.with_gate) return annotated(*seen) ? finish({}) : patch();
    if (!request_.pin_to) return not_allowed(*refused_);
    auto terms = codec::pin_terms(body, *request_.pin_to);
    if (!terms) return fail(Errc::invalid_argument, pod_ + ": " + terms.error().text());
    patch_.terms = std::move(*terms);
    patch();
  }

  bool annotated(const codec::KubePod& seen) const {
    return std::all_of(request_.annotations.begin(), request_.annotations.end(),
                       [&](const auto& wanted) {
                         const auto there = seen.annotations.find(wanted.first);
                         return there != seen.annotations.end() && there->second == wanted.second;
                       });
  }

  void refused(const Reply& reply, const std::string& why) {
    if (reply.status == 429 || reply.status >= 500)
      return try_again(why, reply.retry_after.value_or(std::chrono::seconds(0)));
    not_allowed("(HTTP " + std::to_string(reply.status) + "): " + why);
  }

  void not_allowed(const std::string& why) {
    fail(Errc::invalid_argument,
         "the API server does not let chipweave ungate " + pod_ + " " + why);
  }

  // With the last patch, which may have arrived: it says the same.
  void try_again(const std::string& why, Ms at_least = Ms(0)) {
    if (wait([this] { patch(); }, at_least)) return;
    out_of_time(why);
  }
  void read_again(const std::string& why) {
    if (!refused_) return try_again(why);
    if (wait([this] { read(); })) return;
    out_of_time(why);
  }
  void out_of_time(const std::string& why) {
    fail(unclear(), pod_ + " could not be ungated in time: " + why);
  }

  UngateRequest request_;
  UngatePatch patch_;
  std::optional<std::string> refused_;  // why the first patch was invalid
  codec::WatchReader<codec::KubePod> reader_;
};

}  // namespace

std::string ungate_text(const UngateRequest& request, const UngatePatch& patch) {
  JsonWriter w;
  w.begin_object().key("metadata").begin_object().field("uid", request.uid);
  if (!patch.version.empty()) w.field("resourceVersion", patch.version);
  if (!request.annotations.empty()) w.key("annotations").string_map(request.annotations);
  w.end_object();
  if (patch.with_gate || !patch.terms.empty()) w.key("spec").begin_object();
  if (patch.with_gate) {
    w.key("schedulingGates").begin_array().begin_object().field("$patch", "delete");
    w.field("name", request.gate).end_object().end_array();
  }
  if (!patch.terms.empty()) {
    w.key("affinity").begin_object().key("nodeAffinity").begin_object();
    w.key("requiredDuringSchedulingIgnoredDuringExecution").begin_object();
    w.key("nodeSelectorTerms").raw(patch.terms).end_object().end_object().end_object();
  }
  if (patch.with_gate || !patch.terms.empty()) w.end_object();
  return w.end_object().take();
}

std::unique_ptr<Ticket> ungate_pod(Transport& transport, UngateRequest request,
                                   std::function<void(Result<void>)> done) {
  return begin_attempt<UngateAttempt>(transport, std::move(request), std::move(done));
}

}  // namespace chipweave::kube
