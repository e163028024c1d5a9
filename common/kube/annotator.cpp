#include "common/kube/annotator.hpp"

#include <algorithm>
#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/json_writer.hpp"
#include "common/codec/kube/watch.hpp"

namespace chipweave::kube {
namespace {

using std::chrono::milliseconds;

class AnnotateAttempt : public http::AsyncOperation<AnnotateAttempt> {
 public:
  AnnotateAttempt(Transport& transport, Annotator::Options options, AnnotateRequest request,
                  std::function<void(Result<void>)> done)
      : transport_(transport),
        options_(options),
        request_(std::move(request)),
        done_(std::move(done)),
        path_("/api/v1/namespaces/" + request_.ns + "/pods/" + request_.name),
        end_(transport_.now() + options_.in_all),
        wait_(options_.first_wait) {}

  void begin() {
    // Such a name holds nothing that means something in a path.
    if (is_dns_label(request_.ns) && is_dns_subdomain(request_.name)) return read();
    ticket_ = transport_.after(milliseconds(0), guarded([this] {
                                 finish(make_error(Errc::invalid_argument,
                                                   "the namespace or pod has a name that no object "
                                                   "can have"));
                               }));
  }
  void cancel() {
    over_ = true;
    ticket_.reset();
  }

 private:
  std::string pod() const { return "pod " + request_.ns + "/" + request_.name; }

  void send(Call call, void (AnnotateAttempt::*then)(Result<Reply>)) {
    const auto left = std::chrono::duration_cast<milliseconds>(end_ - transport_.now());
    call.deadline = std::max(milliseconds(1), std::min(left, options_.one_try));
    ticket_ = transport_.call(std::move(call), guarded([this, then](Result<Reply> reply) {
                                (this->*then)(std::move(reply));
                              }));
  }

  void read() {
    Call call;
    call.target = path_;
    send(std::move(call), &AnnotateAttempt::found);
  }

  void found(Result<Reply> reply) {
    if (!reply) return try_again(reply.error().text());
    if (reply->status == 404) return finish(make_error(Errc::not_found, pod() + " does not exist"));
    if (reply->status != 200) return refused(*reply);
    const auto seen = reader_.read_one(reply->body);
    if (!seen) return try_again(seen.error().text());
    if (seen->uid != request_.uid) {
      return finish(
          make_error(Errc::conflict, pod() + " has another uid: it was deleted and recreated"));
    }
    if (const auto there = seen->annotations.find(request_.unless);
        there != seen->annotations.end()) {
      const auto ours = request_.annotations.find(request_.unless);
      if (ours != request_.annotations.end() && ours->second == there->second) return finish({});
      return finish(make_error(Errc::conflict,
                               pod() + " has the annotation " + request_.unless + " already"));
    }
    patch(seen->resource_version);
  }

  void patch(const std::string& version) {
    JsonWriter w;
    w.begin_object().key("metadata").begin_object();
    w.field("uid", request_.uid).field("resourceVersion", version);
    w.key("annotations").string_map(request_.annotations).end_object().end_object();
    Call call;
    call.method = "PATCH";
    call.target = path_;
    call.body = w.take();
    call.content_type = "application/merge-patch+json";
    send(std::move(call), &AnnotateAttempt::patched);
  }

  void patched(Result<Reply> reply) {
    if (!reply) return try_again(reply.error().text());  // the next read shows whether it arrived
    if (reply->status == 200) return finish({});
    if (reply->status == 404) return finish(make_error(Errc::not_found, pod() + " does not exist"));
    if (reply->status == 409) return try_again("it changes all the time");
    refused(*reply);
  }

  void refused(Reply& reply) {
    const std::string why = codec::read_status(reply.body).message;
    if (reply.status == 429 || reply.status >= 500) return try_again(why);
    finish(make_error(Errc::invalid_argument, "the API server does not let chipweave annotate " +
                                                  pod() + " (HTTP " + std::to_string(reply.status) +
                                                  "): " + why));
  }

  void try_again(const std::string& why) {
    const milliseconds wait = std::exchange(wait_, wait_ * 2);
    if (transport_.now() + wait >= end_) {
      return finish(
          make_error(Errc::unavailable, pod() + " could not be annotated in time: " + why));
    }
    ticket_ = transport_.after(wait, guarded([this] { read(); }));
  }

  void finish(Result<void> how) {
    over_ = true;
    done_(std::move(how));
  }

  Transport& transport_;
  Annotator::Options options_;
  AnnotateRequest request_;
  std::function<void(Result<void>)> done_;
  std::string path_;
  std::chrono::steady_clock::time_point end_;
  milliseconds wait_;
  codec::WatchReader<codec::KubePod> reader_;
  std::unique_ptr<Ticket> ticket_;
};

}  // namespace

std::unique_ptr<Ticket> Annotator::annotate(AnnotateRequest request,
                                            std::function<void(Result<void>)> done) {
  const auto attempt =
      std::make_shared<AnnotateAttempt>(transport_, options_, std::move(request), std::move(done));
  attempt->begin();
  return http::ticket_of(attempt);
}

}  // namespace chipweave::kube
