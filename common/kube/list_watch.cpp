#include "common/kube/list_watch.hpp"

#include <utility>

namespace chipweave::kube {
namespace {

constexpr int kGone = 410;
constexpr int kBadRequest = 400;
constexpr int kUnprocessable = 422;
constexpr int kStatusInternal = 500;
constexpr double kJitter = 1;  // from nothing to the whole wait, so that thousands of agents spread

}  // namespace

ListWatch::ListWatch(Options options, std::function<double()> jitter)
    : options_(options),
      backoff_({options.first_wait, options.longest_wait, kJitter}, std::move(jitter)),
      streaming_(options.streaming) {}

WatchRequest ListWatch::start() { return begin_listing(); }

WatchRequest ListWatch::begin_listing() {
  ++round_;
  relist_ = false;
  any_event_ = false;
  listing_ = streaming_;
  if (!streaming_) return {.kind = WatchRequest::Kind::list};
  return {.kind = WatchRequest::Kind::watch, .initial_events = true};
}

WatchRequest ListWatch::watch_on() const {
  return {.kind = WatchRequest::Kind::watch, .resource_version = version_};
}

WatchRequest ListWatch::wait(std::optional<std::chrono::seconds> at_least) {
  return {.kind = WatchRequest::Kind::wait,
          .delay = backoff_.next(at_least.value_or(std::chrono::seconds(0)))};
}

WatchRequest ListWatch::waited() { return relist_ ? begin_listing() : watch_on(); }

WatchRequest ListWatch::page(const std::string& resource_version, const std::string& next) {
  version_ = resource_version;
  // all pages are of the first one's version
  if (!next.empty()) return {.kind = WatchRequest::Kind::list, .next = next};
  complete_ = round_;
  backoff_.reset();
  return watch_on();
}

std::optional<WatchRequest> ListWatch::event(codec::WatchKind kind,
                                             const std::string& resource_version, bool initial_end,
                                             const codec::KubeStatus& status) {
  if (kind == codec::WatchKind::error) {
    return failed({status.code, status.message, std::nullopt}, Milliseconds(0));
  }
  any_event_ = true;
  version_ = resource_version;
  if (listing_ && kind == codec::WatchKind::bookmark && initial_end) {
    listing_ = false;
    complete_ = round_;
    backoff_.reset();
  }
  return std::nullopt;
}

WatchRequest ListWatch::ended(Milliseconds lasted) {
  if (listing_) return failed({0, "the stream ended before the list was complete", {}}, lasted);
  if (!any_event_ && lasted < options_.too_short) {
    return failed({0, "the watch ended at once", {}}, lasted);
  }
  backoff_.reset();
  any_event_ = false;
  return watch_on();
}

WatchRequest ListWatch::failed(const WatchFailure& failure, Milliseconds lasted) {
  if (lasted >= options_.good_after) backoff_.reset();
  const bool stream = listing_;
  any_event_ = false;
  listing_ = false;
  // The server cannot stream lists: an old one answers with a status, one on etcd 3.4 with an error
  // event.
  if (stream && (failure.status == kBadRequest || failure.status == kUnprocessable ||
                 failure.status == kStatusInternal)) {
    streaming_ = false;
    return begin_listing();
  }
  if (failure.status == kGone) {
    // The first time at once, then with back-off.
    const bool again = complete_ != round_;
    if (!again) return begin_listing();
    relist_ = true;
    return wait(failure.retry_after);
  }
  // An interrupted list starts again, a watch continues. After a refusal (403, 404) list again: by
  // the time it ends, the server may have forgotten the changes in between.
  const bool refused = failure.status >= kBadRequest && failure.status < kStatusInternal &&
                       failure.status != 408 && failure.status != 429;
  relist_ = refused || complete_ != round_;
  return wait(failure.retry_after);
}

}  // namespace chipweave::kube
