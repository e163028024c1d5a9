#include "common/kube/pod_claims.hpp"

#include <utility>

#include "common/codec/kube/objects/merge_patch.hpp"
#include "common/codec/kube/watch.hpp"
#include "common/kube/pod_attempt.hpp"

namespace chipweave::kube {
namespace {

constexpr std::chrono::milliseconds kAllocateTime{10'000};
constexpr std::chrono::milliseconds kEndTime{10'000};

// What both do: read the claim, and write its status.
class ClaimAttempt : public PodAttempt {
 protected:
  ClaimAttempt(Transport& transport, codec::PodClaim claim, Ms in_all,
               std::function<bool()> may_send, Done done)
      : PodAttempt(transport, claim.ns, claim.pod, in_all, std::move(done)),
        may_send_(std::move(may_send)),
        claim_(std::move(claim)),
        claims_("/apis/resource.k8s.io/v1/namespaces/" + claim_.ns + "/resourceclaims"),
        of_pod_("the claim " + claim_.name() + " of " + pod_) {}

  // Whether the call has an answer that decides something; otherwise it is tried again, or given
  // up.
  bool decided(const Result<Reply>& reply, std::function<void()> again) {
    if (reply && reply->status != 429 && reply->status < 500) return true;
    problem_ = reply ? "HTTP " + std::to_string(reply->status) : reply.error().text();
    later(std::move(again));
    return false;
  }
  void later(std::function<void()> again) {
    if (wait(std::move(again))) return;
    fail(in_time_, "the API server did not take " + of_pod_ + " in time: " + problem_);
  }
  void refused(Reply& reply) {
    fail(Errc::invalid_argument, "the API server refuses " + of_pod_ + " (HTTP " +
                                     std::to_string(reply.status) +
                                     "): " + codec::read_status(reply.body).message);
  }
  Call put_status(std::string body) const {
    return call_of("PUT", claims_ + "/" + claim_.name() + "/status", std::move(body));
  }

  void write(Call call, std::function<void(Result<Reply>)> then) {
    call.may_send = may_send_;
    send(std::move(call), std::move(then));
  }

  const std::function<bool()> may_send_;
  codec::PodClaim claim_;
  const std::string claims_;
  const std::string of_pod_;  // for messages
  std::string problem_;
  Errc in_time_ = Errc::not_sent;  // if it was not done in time
};

class Allocation : public ClaimAttempt {
 public:
  Allocation(Transport& transport, AllocateRequest request, Done done)
      : ClaimAttempt(transport, std::move(request.claim), kAllocateTime,
                     std::move(request.may_send), std::move(done)),
        time_(std::move(request.time)),
        shown_(std::move(request.shown)) {}

  void begin() {
    if (well_named_) return create();
    fail_later("the name of the namespace or pod is invalid");
  }

 private:
  void create() {
    write(call_of("POST", claims_, codec::write_pod_claim(claim_)), [this](Result<Reply> reply) {
      // Without an answer it may have been made.
      if (!decided(reply, [this] { create(); })) return;
      if (reply->status == kConflict) return read();
      if (reply->status != 201 && reply->status != kOk) return refused(*reply);
      take(reply->body);
    });
  }

  void read() {
    send(call_of("GET", claims_ + "/" + claim_.name(), ""), [this](Result<Reply> reply) {
      if (!decided(reply, [this] { read(); })) return;
      if (reply->status == kNotFound) return later([this] { create(); });
      if (reply->status != kOk) return refused(*reply);
      take(reply->body);
    });
  }

  void take(std::string& body) {
    auto stored = codec::read_stored_claim(body);
    if (!stored) {
      return fail(Errc::invalid_argument,
                  of_pod_ + " as the API server shows it: " + stored.error().text());
    }
    if (stored->owner_uid != claim_.pod_uid) {
      return fail(Errc::conflict, of_pod_ + " is not the pod's: another client has made it");
    }
    if (shown_) {
      if (auto claim = reader_.read_one(body)) shown_(std::move(*claim));
    }
    problem_ = "it is being deleted";
    if (stored->ending) return later([this] { read(); });
    if (codec::is_allocated_as(*stored, claim_)) return name_it();
    const bool free = stored->devices.empty() && stored->pods.empty();
    std::string body_now =
        free ? codec::write_pod_claim_allocation(claim_, stored->version, time_)
             : codec::write_pod_claim_release(claim_.ns, claim_.name(), stored->version);
    write(put_status(std::move(body_now)), [this](Result<Reply> reply) {
      if (!decided(reply, [this] { read(); })) return;
      if (reply->status == kConflict || reply->status == kNotFound) {
        problem_ = "others change it";
        return later([this] { read(); });
      }
      if (reply->status != kOk) return refused(*reply);
      take(reply->body);
    });
  }

  void name_it() {
    Call call = call_of("PATCH", path_ + "/status", codec::write_pod_claim_status(claim_));
    call.content_type = "application/merge-patch+json";
    write(std::move(call), [this](Result<Reply> reply) {
      if (!decided(reply, [this] { name_it(); })) return;
      if (reply->status == kNotFound) return does_not_exist();
      if (reply->status == kConflict) return has_another_uid();
      if (reply->status != kOk) return refused(*reply);
      // It drops fields of features that are off.
      if (reply->body.find("\"extendedResourceClaimStatus\"") == std::string::npos) {
        return fail(
            Errc::invalid_argument,
            "the API server does not keep extendedResourceClaimStatus of pods: handing over "
            "chips by DRA requires Kubernetes 1.36 with the feature DRAExtendedResource");
      }
      finish({});
    });
  }

  std::string time_;
  std::function<void(codec::KubeClaim)> shown_;
  codec::WatchReader<codec::KubeClaim> reader_;
};

class End : public ClaimAttempt {
 public:
  End(Transport& transport, codec::PodClaim claim, std::function<bool()> may_send, Done done)
      : ClaimAttempt(transport, std::move(claim), kEndTime, std::move(may_send), std::move(done)) {
    in_time_ = Errc::unavailable;
  }

  void begin() {
    if (well_named_) return read();
    fail_later("the name of the namespace or pod is invalid");
  }

 private:
  void read() {
    send(call_of("GET", claims_ + "/" + claim_.name(), ""), [this](Result<Reply> reply) {
      if (!decided(reply, [this] { read(); })) return;
      if (reply->status == kNotFound) return finish({});
      if (reply->status != kOk) return refused(*reply);
      take(reply->body);
    });
  }

  void take(std::string& body) {
    auto stored = codec::read_stored_claim(body);
    if (!stored) {
      return fail(Errc::invalid_argument,
                  of_pod_ + " as the API server shows it: " + stored.error().text());
    }
    // One of another pod is not ours to end.
    if (stored->owner_uid != claim_.pod_uid) return finish({});
    if (stored->devices.empty() && stored->pods.empty()) return remove(stored->version);
    write(put_status(codec::write_pod_claim_release(claim_.ns, claim_.name(), stored->version)),
          [this](Result<Reply> reply) {
            if (!decided(reply, [this] { read(); })) return;
            if (reply->status == kNotFound) return finish({});
            problem_ = "others change it";
            if (reply->status == kConflict) return later([this] { read(); });
            if (reply->status != kOk) return refused(*reply);
            take(reply->body);
          });
  }

  // The finalizer goes with the controller of claims, once nothing is allocated.
  void remove(const codec::ObjectVersion& version) {
    write(call_of("DELETE", claims_ + "/" + claim_.name(), codec::write_delete_options(version)),
          [this](Result<Reply> reply) {
            if (!decided(reply, [this] { read(); })) return;
            problem_ = "others change it";
            if (reply->status == kConflict) return later([this] { read(); });
            if (reply->status >= 300 && reply->status != kNotFound) return refused(*reply);
            finish({});
          });
  }
};

template <class Attempt>
std::unique_ptr<Ticket> begun(const std::shared_ptr<Attempt>& attempt) {
  attempt->begin();
  return http::ticket_of(attempt);
}

}  // namespace

std::unique_ptr<Ticket> allocate_claim(Transport& transport, AllocateRequest request,
                                       std::function<void(Result<void>)> done) {
  return begun(std::make_shared<Allocation>(transport, std::move(request), std::move(done)));
}

std::unique_ptr<Ticket> end_claim(Transport& transport, codec::PodClaim claim,
                                  std::function<bool()> may_send,
                                  std::function<void(Result<void>)> done) {
  return begun(
      std::make_shared<End>(transport, std::move(claim), std::move(may_send), std::move(done)));
}

}  // namespace chipweave::kube
