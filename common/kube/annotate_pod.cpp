#include "common/kube/annotate_pod.hpp"

#include <utility>

#include "common/base/json_writer.hpp"
#include "common/codec/kube/watch.hpp"
#include "common/kube/pod_attempt.hpp"

namespace chipweave::kube {
namespace {

constexpr std::chrono::milliseconds kAnnotateTime{10'000};  // then the caller may try again

class AnnotateAttempt : public PodAttempt {
 public:
  AnnotateAttempt(Transport& transport, AnnotateRequest request, Done done)
      : PodAttempt(transport, request.ns, request.name, kAnnotateTime, std::move(done)),
        request_(std::move(request)) {}

  void begin() {
    if (well_named_) return read();
    fail_later("the name of the namespace or pod is invalid");
  }

 private:
  void read() {
    send(call_of("GET", path_, ""), [this](Result<Reply> reply) { found(std::move(reply)); });
  }

  void found(Result<Reply> reply) {
    if (!reply) return try_again(reply.error().text());
    if (reply->status == kNotFound) return does_not_exist();
    if (reply->status != kOk) return refused(*reply);
    const auto seen = reader_.read_one(reply->body);
    if (!seen) return try_again(seen.error().text());
    if (seen->uid != request_.uid) return has_another_uid();
    if (const auto there = seen->annotations.find(request_.unless);
        there != seen->annotations.end()) {
      const auto ours = request_.annotations.find(request_.unless);
      if (ours != request_.annotations.end() && ours->second == there->second) return finish({});
      if (request_.replaceable == nullptr || !request_.replaceable(there->second))
        return fail(Errc::conflict, pod_ + " has the annotation " + request_.unless + " already");
    }
    patch(seen->resource_version);
  }

  void patch(const std::string& version) {
    JsonWriter w;
    w.begin_object().key("metadata").begin_object();
    w.field("uid", request_.uid).field("resourceVersion", version);
    w.key("annotations").string_map(request_.annotations).end_object().end_object();
    Call call = call_of("PATCH", path_, w.take());
    call.content_type = "application/merge-patch+json";
    send(std::move(call), [this](Result<Reply> reply) { patched(std::move(reply)); });
  }

  void patched(Result<Reply> reply) {
    if (!reply) return try_again(reply.error().text());  // the next read shows whether it arrived
    if (reply->status == kOk) return finish({});
    if (reply->status == kNotFound) return does_not_exist();
    if (reply->status == kConflict) return try_again("it changes all the time");
    refused(*reply);
  }

  void refused(Reply& reply) {
    const std::string why = codec::read_status(reply.body).message;
    if (reply.status == 429 || reply.status >= 500) return try_again(why);
    fail(Errc::invalid_argument, "the API server does not let chipweave annotate " + pod_ +
                                     " (HTTP " + std::to_string(reply.status) + "): " + why);
  }

  void try_again(const std::string& why) {
    if (wait([this] { read(); })) return;
    fail(Errc::unavailable, pod_ + " could not be annotated in time: " + why);
  }

  AnnotateRequest request_;
  codec::WatchReader<codec::KubePod> reader_;
};

}  // namespace

std::unique_ptr<Ticket> annotate_pod(Transport& transport, AnnotateRequest request,
                                     std::function<void(Result<void>)> done) {
  return begin_attempt<AnnotateAttempt>(transport, std::move(request), std::move(done));
}

}  // namespace chipweave::kube
