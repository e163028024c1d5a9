#include "common/kube/evict_pod.hpp"

#include <utility>

#include "common/base/json_writer.hpp"
#include "common/codec/kube/watch.hpp"
#include "common/kube/pod_attempt.hpp"

namespace chipweave::kube {
namespace {

constexpr std::chrono::milliseconds kEvictTime{10'000};  // then the caller may try again

class EvictAttempt : public PodAttempt {
 public:
  EvictAttempt(Transport& transport, EvictRequest request, Done done)
      : PodAttempt(transport, request.ns, request.name, kEvictTime, std::move(done)),
        request_(std::move(request)) {}

  void begin() {
    if (well_named_) return post();
    fail_later("the name of the namespace or pod is invalid");
  }

 private:
  void post() {
    send_fenced(call_of("POST", path_ + "/eviction", eviction_text(request_)), request_.may_send,
                [this](Result<Reply> reply) { posted(std::move(reply)); });
  }

  void posted(Result<Reply> reply) {
    if (called_off()) return fail(unclear(), "the eviction of " + pod_ + " was called off");
    if (!reply) return try_again(reply.error().text());
    const int status = reply->status;
    if (status / 100 == 2 || status == kNotFound) return finish({});
    const std::string why = codec::read_status(reply->body).message;
    if (status == kConflict) return read(why);
    if (status == kTooManyRequests)
      return fail(Errc::conflict, pod_ + " may not be evicted now: " + why);
    if (status >= kServerError) return try_again(why);
    fail(Errc::invalid_argument, "the API server does not let chipweave evict " + pod_ + " (HTTP " +
                                     std::to_string(status) + "): " + why);
  }

  // Another pod may have its name by now.
  void read(const std::string& why) {
    send(call_of("GET", path_, ""), [this, why](Result<Reply> reply) {
      if (reply && reply->status == kNotFound) return finish({});
      if (reply && reply->status == kOk) {
        const auto found = reader_.read_one(reply->body);
        if (found && found->uid != request_.uid) return finish({});
      }
      try_again(why);
    });
  }

  void try_again(const std::string& why) {
    if (wait([this] { post(); })) return;
    fail(unclear(), pod_ + " could not be evicted in time: " + why);
  }

  EvictRequest request_;
  codec::WatchReader<codec::KubePod> reader_;
};

}  // namespace

std::string eviction_text(const EvictRequest& request) {
  JsonWriter w;
  w.begin_object().field("apiVersion", "policy/v1").field("kind", "Eviction");
  w.key("metadata").begin_object().field("name", request.name).field("namespace", request.ns);
  w.end_object();
  w.key("deleteOptions").begin_object();
  if (request.at_once) w.key("gracePeriodSeconds").integer(0);
  w.key("preconditions").begin_object();
  w.field("uid", request.uid).end_object().end_object();
  return w.end_object().take();
}

std::unique_ptr<Ticket> evict_pod(Transport& transport, EvictRequest request,
                                  std::function<void(Result<void>)> done) {
  return begin_attempt<EvictAttempt>(transport, std::move(request), std::move(done));
}

}  // namespace chipweave::kube
