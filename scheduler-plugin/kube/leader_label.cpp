#include "scheduler-plugin/kube/leader_label.hpp"

#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/json_writer.hpp"
#include "common/codec/kube/watch.hpp"

namespace chipweave::sched {
namespace {

using kube::kNotFound;

constexpr std::chrono::milliseconds kLabelTimeout{3000};

}  // namespace

LeaderLabel::LeaderLabel(kube::Transport& transport, Options options,
                         std::function<void(const std::string&)> failed)
    : transport_(transport), options_(std::move(options)), failed_(std::move(failed)) {}

void LeaderLabel::set(bool on) {
  if (!on) former_ = {};
  if (!options_.pod.empty()) begin(own_, options_.pod, on);
}

void LeaderLabel::take_off(const std::string& pod) {
  if (options_.pod.empty() || pod == options_.pod || !is_dns_subdomain(pod)) return;
  begin(former_, pod, false);
}

void LeaderLabel::stop(std::function<void()> done) {
  if (options_.pod.empty()) return done();
  when_stopped_ = std::move(done);
  set(false);
}

void LeaderLabel::stopped() {
  const auto done = std::exchange(when_stopped_, nullptr);
  if (done) done();
}

void LeaderLabel::begin(Mark& mark, const std::string& pod, bool on) {
  mark.pod = pod;
  mark.on = on;
  mark.settled = false;
  mark.backoff.reset();
  send(mark);
}

void LeaderLabel::send(Mark& mark) {
  JsonWriter w;
  w.begin_object().key("metadata").begin_object().key("labels").begin_object().key(kLeaderLabel);
  if (mark.on) {
    w.string("true");
  } else {
    w.raw("null");
  }
  w.end_object().end_object().end_object();
  kube::Call call;
  call.method = "PATCH";
  call.target = "/api/v1/namespaces/" + options_.ns + "/pods/" + mark.pod;
  call.content_type = "application/merge-patch+json";
  call.body = w.take();
  call.deadline = kLabelTimeout;
  mark.ticket = transport_.call(
      std::move(call), [this, &mark](const Result<kube::Reply>& reply) { answered(mark, reply); });
}

void LeaderLabel::answered(Mark& mark, const Result<kube::Reply>& reply) {
  const bool own = &mark == &own_;
  // A deleted pod has no label.
  if (reply && (reply->status == 200 || (reply->status == kNotFound && !mark.on))) {
    mark.settled = true;
    mark.backoff.reset();
    mark.ticket = own && !when_stopped_
                      ? transport_.after(options_.again, [this, &mark] { send(mark); })
                      : nullptr;
    if (own) stopped();
    return;
  }
  std::string why;
  if (!reply) {
    why = reply.error().text();
  } else {
    std::string body = reply->body;
    why = "HTTP " + std::to_string(reply->status) + " " + codec::read_status(body).message;
  }
  if (own && when_stopped_) {
    mark.ticket.reset();
    return stopped();
  }
  mark.ticket = transport_.after(mark.backoff.next(), [this, &mark] { send(mark); });
  failed_("the label " + std::string(kLeaderLabel) + " cannot be " +
          (mark.on ? "put on" : "taken off") + " pod " + mark.pod + ": " + why);
}

}  // namespace chipweave::sched
