// ListWatch — keeps a copy of a collection of the API server up to date, as a pure state machine:
// takes the result of a request and returns the next request. No socket, clock or threads; the
// driver (reflector.hpp) sends the requests.
//
// It starts with a streaming list (a watch that begins with all existing objects) or, if the server
// does not support that, a paged list and then a watch; each further watch continues where the last
// one ended. A version that the server no longer has (410) requires a new list; objects missing
// from it have been deleted. Failures are retried after 0.8 s to 30 s, doubling, with full jitter,
// or after Retry-After. Source: the reflector of client-go, and the observed behaviour of
// Kubernetes 1.36 on etcd 3.4 and 3.6.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/base/backoff.hpp"
#include "common/codec/kube/watch.hpp"

namespace chipweave::kube {

struct WatchRequest {
  enum class Kind { list, watch, wait };
  Kind kind = Kind::list;
  // watch: the version to continue from; empty with `initial_events`. A list always requests the
  // latest version (the server's cache may miss bindings made before a restart).
  std::string resource_version{};
  std::string next{};                  // list: the continuation of an earlier page
  bool initial_events = false;         // a streaming list
  std::chrono::milliseconds delay{0};  // wait: then call ListWatch::waited()
};

// Why a request ended: an HTTP status, or 0 for failures below HTTP.
struct WatchFailure {
  int status = 0;
  std::string what;
  std::optional<std::chrono::seconds> retry_after;
};

class ListWatch {
 public:
  using Milliseconds = std::chrono::milliseconds;
  struct Options {
    bool streaming = true;  // try a streaming list first
    Milliseconds first_wait{800};
    Milliseconds longest_wait{30'000};
    Milliseconds good_after{120'000};  // a watch that lasted this long resets the back-off
    Milliseconds too_short{1'000};     // a watch that ends sooner without an event is a failure
  };
  // jitter: a number from 0 to 1 each time.
  ListWatch(Options options, std::function<double()> jitter);

  WatchRequest start();
  // A page was read and its objects processed.
  WatchRequest page(const std::string& resource_version, const std::string& next);
  // An event was read and its object processed. Returns the next request if the watch is over.
  std::optional<WatchRequest> event(codec::WatchKind kind, const std::string& resource_version,
                                    bool initial_end, const codec::KubeStatus& status);
  // The watch has ended regularly after `lasted`.
  WatchRequest ended(Milliseconds lasted);
  WatchRequest failed(const WatchFailure& failure, Milliseconds lasted);
  WatchRequest waited();

  // Incremented when a listing begins. Objects are stamped with it; when complete() reaches it,
  // objects with an older stamp have been deleted.
  std::uint64_t round() const { return round_; }
  std::uint64_t complete() const { return complete_; }
  // Up to which all changes were seen; right after a listing, the version of the list.
  const std::string& version() const { return version_; }
  // Whether the whole collection has been listed at least once.
  bool synced() const { return complete_ > 0; }

 private:
  WatchRequest begin_listing();
  WatchRequest watch_on() const;
  WatchRequest wait(std::optional<std::chrono::seconds> at_least);

  Options options_;
  Backoff backoff_;
  bool streaming_;
  bool listing_ = false;    // a streaming list has not reached its end
  bool relist_ = true;      // after a wait: list again instead of watching on
  bool any_event_ = false;  // in the current watch
  std::string version_;     // up to which everything was seen
  std::uint64_t round_ = 0;
  std::uint64_t complete_ = 0;
};

}  // namespace chipweave::kube
