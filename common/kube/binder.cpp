#include "common/kube/binder.hpp"

#include <algorithm>
#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/json_writer.hpp"
#include "common/codec/kube/watch.hpp"

namespace chipweave::kube {
namespace {

using std::chrono::milliseconds;

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

class BindAttempt : public http::AsyncOperation<BindAttempt> {
 public:
  BindAttempt(Transport& transport, Binder::Options options, BindRequest order,
              std::function<void(Result<void>)> done)
      : transport_(transport),
        options_(options),
        order_(std::move(order)),
        done_(std::move(done)),
        path_("/api/v1/namespaces/" + order_.ns + "/pods/" + order_.name),
        body_(binding_text(order_)),
        end_(transport_.now() + options_.in_all),
        wait_(options_.first_wait) {}

  void begin() {
    // Such a name holds nothing that means something in a path.
    if (is_dns_label(order_.ns) && is_dns_subdomain(order_.name) && is_dns_subdomain(order_.node))
      return post();
    ticket_ = transport_.after(milliseconds(0), guarded([this] {
                                 finish(make_error(Errc::invalid_argument,
                                                   "the namespace, pod or node has a name that no "
                                                   "object can have"));
                               }));
  }
  void cancel() {
    over_ = true;
    ticket_.reset();
  }

 private:
  std::string pod() const { return "pod " + order_.ns + "/" + order_.name; }

  milliseconds time_for_one() const {
    const auto left = std::chrono::duration_cast<milliseconds>(end_ - transport_.now());
    return std::max(milliseconds(1), std::min(left, options_.one_try));
  }

  void send(Call call, void (BindAttempt::*then)(Result<Reply>)) {
    call.deadline = time_for_one();
    ticket_ = transport_.call(std::move(call), guarded([this, then](Result<Reply> reply) {
                                (this->*then)(std::move(reply));
                              }));
  }

  void post() {
    Call call;
    call.method = "POST";
    call.target = path_ + "/binding";
    call.body = body_;
    call.may_send = [self = shared_from_this()] { return self->may_post(); };
    send(std::move(call), &BindAttempt::posted);
  }

  bool may_post() {
    called_off_ = order_.may_send && !order_.may_send();
    return !called_off_;
  }

  void posted(Result<Reply> reply) {
    may_try_again_ = true;
    retry_after_.reset();
    if (called_off_) {
      return finish(make_error(Errc::unavailable, "the binding of " + pod() + " was called off" +
                                                      (problem_.empty() ? "" : ": " + problem_)));
    }
    if (!reply) {
      problem_ = reply.error().text();
      return ask();
    }
    const int status = reply->status;
    if (status == 200 || status == 201) return finish({});
    retry_after_ = reply->retry_after;
    problem_ = codec::read_status(reply->body).message;
    if (status == 404) return finish(make_error(Errc::not_found, pod() + " does not exist"));
    if (status == 401 || status == 403) {
      return finish(make_error(Errc::unavailable, "the API server does not let chipweave bind " +
                                                      pod() + ": " + problem_));
    }
    if (status == 409) {
      may_try_again_ = false;  // gated, being deleted, another uid: no second try changes that
      return ask();
    }
    if (status == 429 || status >= 500) return ask();
    finish(make_error(Errc::invalid_argument, "the API server refuses the binding of " + pod() +
                                                  " (HTTP " + std::to_string(status) +
                                                  "): " + problem_));
  }

  // Reads the pod to learn the outcome.
  void ask() {
    Call call;
    call.target = path_;
    send(std::move(call), &BindAttempt::asked);
  }

  void asked(Result<Reply> reply) {
    if (!reply || reply->status == 429 || reply->status >= 500) return try_again(true);
    if (reply->status == 404) return finish(make_error(Errc::not_found, pod() + " does not exist"));
    if (reply->status != 200) {
      return finish(make_error(Errc::unavailable, "the API server does not show " + pod() +
                                                      " (HTTP " + std::to_string(reply->status) +
                                                      ")"));
    }
    const auto found = codec::read_pod(reply->body);
    if (!found) {
      return finish(make_error(Errc::unavailable,
                               pod() + " as the API server shows it: " + found.error().text()));
    }
    if (found->uid != order_.uid) {
      return finish(
          make_error(Errc::conflict, pod() + " has another uid: it was deleted and recreated"));
    }
    if (found->node_name.empty()) {
      if (may_try_again_) return try_again(false);
      return finish(make_error(Errc::conflict, pod() + " cannot be bound: " + problem_));
    }
    if (found->node_name != order_.node) {
      return finish(
          make_error(Errc::conflict, pod() + " is already bound to node " + found->node_name));
    }
    for (const auto& [key, value] : order_.annotations) {
      const auto it = found->annotations.find(key);
      if (it == found->annotations.end() || it->second != value) {
        return finish(make_error(
            Errc::conflict, pod() + " was bound to node " + order_.node + " by another scheduler"));
      }
    }
    finish({});
  }

  // asking: repeats only the read, after it went unanswered.
  void try_again(bool asking) {
    milliseconds wait = std::exchange(wait_, wait_ * 2);
    if (retry_after_) wait = std::max<milliseconds>(wait, *retry_after_);
    if (transport_.now() + wait >= end_) {
      return finish(make_error(Errc::unavailable, "the API server did not take the binding of " +
                                                      pod() + " in time: " + problem_));
    }
    ticket_ = transport_.after(wait, guarded([this, asking] { asking ? ask() : post(); }));
  }

  void finish(Result<void> how) {
    over_ = true;
    done_(std::move(how));
  }

  Transport& transport_;
  Binder::Options options_;
  BindRequest order_;
  std::function<void(Result<void>)> done_;
  std::string path_;
  std::string body_;
  std::chrono::steady_clock::time_point end_;
  milliseconds wait_;
  std::optional<std::chrono::seconds> retry_after_;
  std::string problem_;         // outcome of the last binding
  bool may_try_again_ = false;  // with a second binding
  bool called_off_ = false;     // the last one was not sent
  std::unique_ptr<Ticket> ticket_;
};

}  // namespace

std::unique_ptr<Ticket> Binder::bind(BindRequest order, std::function<void(Result<void>)> done) {
  const auto attempt =
      std::make_shared<BindAttempt>(transport_, options_, std::move(order), std::move(done));
  attempt->begin();
  return http::ticket_of(attempt);
}

}  // namespace chipweave::kube
