// PodAttempt — base of the operations on one pod (bind_pod, annotate_pod, ungate_pod,
// evict_pod): one request
// at a time, each with its own deadline and all within one, and waits between the tries that
// double.
//
// For the .cpp files of this folder. Owner: the loop thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "common/base/backoff.hpp"
#include "common/base/dns_name.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::kube {

class PodAttempt : public http::AsyncOperation<PodAttempt> {
 public:
  using Ms = std::chrono::milliseconds;
  using Done = std::function<void(Result<void>)>;

  void cancel() {
    over_ = true;
    ticket_.reset();
  }

 protected:
  static constexpr Ms kOneTry{3'000};   // for one answer
  static constexpr Ms kFirstWait{100};  // before the second try
  static constexpr Ms kMaxWait{5'000};

  PodAttempt(Transport& transport, const std::string& ns, const std::string& name, Ms in_all,
             Done done)
      : pod_("pod " + ns + "/" + name),
        path_("/api/v1/namespaces/" + ns + "/pods/" + name),
        well_named_(is_dns_label(ns) && is_dns_subdomain(name)),
        transport_(transport),
        done_(std::move(done)),
        end_(transport.now() + in_all) {}

  void send(Call call, std::function<void(Result<Reply>)> then) {
    const auto left = std::chrono::duration_cast<Ms>(end_ - transport_.now());
    call.deadline = std::max(Ms(1), std::min(left, kOneTry));
    ticket_ = transport_.call(std::move(call), guarded(std::move(then)));
  }
  // The same for a write that must not be sent once `may_send` (may be empty) says no.
  void send_fenced(Call call, const std::function<bool()>& may_send,
                   std::function<void(Result<Reply>)> then) {
    call.may_send = [this, self = shared_from_this(), may_send] {
      called_off_ = may_send && !may_send();
      sent_ = sent_ || !called_off_;
      return !called_off_;
    };
    send(std::move(call), [this, then = std::move(then)](Result<Reply> reply) {
      sent_ = sent_ || reply.ok();
      then(std::move(reply));
    });
  }
  // Of fenced writes: whether the last one was not sent, and whether any may have reached the
  // server.
  bool called_off() const { return called_off_; }
  bool sent() const { return sent_; }
  // The code of a failure whose outcome is not known.
  Errc unclear() const { return sent_ ? Errc::unavailable : Errc::not_sent; }
  // False if no time is left for that wait.
  bool wait(std::function<void()> then, Ms at_least = Ms(0)) {
    const Ms delay = backoff_.next(at_least);
    if (transport_.now() + delay >= end_) return false;
    ticket_ = transport_.after(delay, guarded(std::move(then)));
    return true;
  }
  void finish(Result<void> result) {
    over_ = true;
    done_(std::move(result));
  }
  void fail(Errc code, std::string message) { finish(make_error(code, std::move(message))); }
  void fail_later(const char* message) {
    ticket_ = transport_.after(Ms(0),
                               guarded([this, message] { fail(Errc::invalid_argument, message); }));
  }
  void does_not_exist() { fail(Errc::not_found, pod_ + " does not exist"); }
  void has_another_uid() {
    fail(Errc::conflict, pod_ + " has another uid: it was deleted and recreated");
  }

  const std::string pod_;  // for messages
  const std::string path_;
  const bool well_named_;  // the names hold nothing that means something in a path

 private:
  Transport& transport_;
  Done done_;
  std::chrono::steady_clock::time_point end_;
  Backoff backoff_{{kFirstWait, kMaxWait, 0}};
  std::unique_ptr<Ticket> ticket_;
  bool called_off_ = false;
  bool sent_ = false;
};

// Begins an attempt of that kind.
template <class Attempt, class Request>
std::unique_ptr<Ticket> begin_attempt(Transport& transport, Request request,
                                      PodAttempt::Done done) {
  const auto attempt = std::make_shared<Attempt>(transport, std::move(request), std::move(done));
  attempt->begin();
  return http::ticket_of(attempt);
}

}  // namespace chipweave::kube
