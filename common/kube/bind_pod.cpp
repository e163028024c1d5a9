#include "common/kube/bind_pod.hpp"

#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/json_writer.hpp"
#include "common/codec/kube/watch.hpp"
#include "common/kube/pod_attempt.hpp"

namespace chipweave::kube {
namespace {

constexpr std::chrono::milliseconds kBindTime{4'500};  // kube-scheduler gives an extender 5 s

std::string binding_text(const BindRequest& order) {
  JsonWriter w;
  w.begin_object().field("apiVersion", "v1").field("kind", "Binding");
  w.key("metadata").begin_object();
  w.field("name", order.name).field("namespace", order.ns).field("uid", order.uid);
  w.key("annotations").string_map(order.annotations).end_object();
  w.key("target").begin_object();
  w.field("apiVersion", "v1").field("kind", "Node").field("name", order.node);
  w.end_object().end_object();
  return w.take();
}

class BindAttempt : public PodAttempt {
 public:
  BindAttempt(Transport& transport, BindRequest order, Done done)
      : PodAttempt(transport, order.ns, order.name, kBindTime, std::move(done)),
        order_(std::move(order)) {}

  void begin() {
    if (well_named_ && is_dns_subdomain(order_.node)) return post();
    fail_later("the name of the namespace, pod or node is invalid");
  }

 private:
  void post() {
    Call call = call_of("POST", path_ + "/binding", binding_text(order_));
    send_fenced(std::move(call), order_.may_send,
                [this](Result<Reply> reply) { posted(std::move(reply)); });
  }

  void posted(Result<Reply> reply) {
    may_try_again_ = true;
    retry_after_ = std::chrono::seconds(0);
    if (called_off()) {
      return fail(unclear(), "the binding of " + pod_ + " was called off" +
                                 (problem_.empty() ? "" : ": " + problem_));
    }
    if (!reply) {
      problem_ = reply.error().text();
      open_ = open_ || sent();
      return sent() ? check_outcome() : try_again(false);
    }
    const int status = reply->status;
    open_ = open_ || status >= 500;
    if (status == 200 || status == 201) return finish({});
    retry_after_ = reply->retry_after.value_or(std::chrono::seconds(0));
    problem_ = codec::read_status(reply->body).message;
    if (status == 404) return does_not_exist();
    // nothing was stored, but an earlier one without an answer may have been
    const Errc refused = open_ ? Errc::unavailable : Errc::invalid_argument;
    if (status == 401 || status == 403) {
      // no permission, a policy or a webhook denied it, or the namespace is being deleted
      return fail(refused, "the API server does not let chipweave bind " + pod_ + ": " + problem_);
    }
    if (status == 409) {
      may_try_again_ = false;  // gated, being deleted, another uid: no second try changes that
      return check_outcome();
    }
    if (status == 429 || status >= 500) return check_outcome();
    fail(refused, "the API server refuses the binding of " + pod_ + " (HTTP " +
                      std::to_string(status) + "): " + problem_);
  }

  // Reads the pod to learn the outcome.
  void check_outcome() {
    send(call_of("GET", path_, ""), [this](Result<Reply> reply) { on_pod_read(std::move(reply)); });
  }

  void on_pod_read(Result<Reply> reply) {
    if (!reply || reply->status == 429 || reply->status >= 500) return try_again(true);
    if (reply->status == 404) return does_not_exist();
    if (reply->status != 200) {
      return fail(Errc::unavailable, "the API server does not show " + pod_ + " (HTTP " +
                                         std::to_string(reply->status) + ")");
    }
    const auto found = codec::read_pod(reply->body);
    if (!found) {
      return fail(Errc::unavailable, pod_ + " as the API server shows it: " + found.error().text());
    }
    if (found->uid != order_.uid) return has_another_uid();
    if (found->node_name.empty()) {
      if (may_try_again_) return try_again(false);
      return fail(Errc::conflict, pod_ + " cannot be bound: " + problem_);
    }
    if (found->node_name != order_.node) {
      return fail(Errc::conflict, pod_ + " is already bound to node " + found->node_name);
    }
    for (const auto& [key, value] : order_.annotations) {
      const auto it = found->annotations.find(key);
      if (it == found->annotations.end() || it->second != value) {
        return fail(Errc::conflict,
                    pod_ + " was bound to node " + order_.node + " by another scheduler");
      }
    }
    finish({});
  }

  // only_read: repeats only the read, after it went unanswered.
  void try_again(bool only_read) {
    if (wait([this, only_read] { only_read ? check_outcome() : post(); }, retry_after_)) return;
    fail(unclear(), "the API server did not take the binding of " + pod_ + " in time: " + problem_);
  }

  BindRequest order_;
  std::chrono::seconds retry_after_{0};
  std::string problem_;         // outcome of the last binding
  bool may_try_again_ = false;  // with a second binding
  bool open_ = false;           // one of them may still be stored
};

}  // namespace

std::unique_ptr<Ticket> bind_pod(Transport& transport, BindRequest order,
                                 std::function<void(Result<void>)> done) {
  const auto attempt = std::make_shared<BindAttempt>(transport, std::move(order), std::move(done));
  attempt->begin();
  return http::ticket_of(attempt);
}

}  // namespace chipweave::kube
