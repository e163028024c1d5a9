// ListWatch — how a copy of a collection of the API server is kept up to date, as a pure state
// machine: what came back in, the next request out. No socket, no clock, no threads; the driver
// (reflector.hpp) does as it is told.
//
// First a streaming list (a watch that begins with what is there) or, where the server has none, a
// paged list and then a watch; from then on watches, each from where the last one ended. A version
// that the server no longer has (410) means listing again; what is then missing has been deleted.
// Failures are waited out for 0.8 s to 30 s, doubling, with full jitter, or as long as the server
// says. Source: the reflector of client-go, and what Kubernetes 1.36 on etcd 3.4 and 3.6 was seen
// to do.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/codec/kube/watch.hpp"

namespace chipweave::kube {

struct WatchRequest {
  enum class Kind { list, watch, wait };
  Kind kind = Kind::list;
  // watch: the version to go on from; empty with `initial_events`. A list always asks for the
  // newest (a server's memory may be older than what was bound before a restart).
  std::string resource_version;
  std::string next;                    // list: the continuation of an earlier page
  bool initial_events = false;         // a streaming list
  std::chrono::milliseconds delay{0};  // wait: then call ListWatch::waited()
};

// What ended a request: an HTTP status, or 0 for everything below HTTP.
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
    Milliseconds good_after{120'000};  // a watch that lasted so long forgives earlier failures
    Milliseconds too_short{1'000};     // a watch that ends sooner without an event is a failure
  };
  // jitter: a number from 0 to 1 each time.
  ListWatch(Options options, std::function<double()> jitter);

  WatchRequest start();
  // A page was read and its objects taken.
  WatchRequest page(const std::string& resource_version, const std::string& next);
  // An event was read, and its object taken. A request: the watch is over, go on with that.
  std::optional<WatchRequest> event(codec::WatchKind kind, const std::string& resource_version,
                                    bool initial_end, const codec::KubeStatus& status);
  // The watch that lasted `lasted` has ended, as every watch does after a while.
  WatchRequest ended(Milliseconds lasted);
  WatchRequest failed(const WatchFailure& failure, Milliseconds lasted);
  WatchRequest waited();

  // Rises with each listing that begins. Objects are stamped with it; when complete() becomes equal
  // to it, those with an older stamp are gone.
  std::uint64_t round() const { return round_; }
  std::uint64_t complete() const { return complete_; }
  // Up to which everything was seen; right after a listing, the version of the list.
  const std::string& version() const { return version_; }
  // Whether the collection has been seen as a whole once.
  bool synced() const { return complete_ > 0; }

 private:
  WatchRequest begin_listing();
  WatchRequest watch_on() const;
  WatchRequest wait(std::optional<std::chrono::seconds> at_least);

  Options options_;
  std::function<double()> jitter_;
  bool streaming_;
  bool listing_ = false;    // a streaming list has not reached its end
  bool relist_ = true;      // after a wait: list again instead of watching on
  bool any_event_ = false;  // in the watch at hand
  int failures_ = 0;        // in a row
  std::string version_;     // up to which everything was seen
  std::uint64_t round_ = 0;
  std::uint64_t complete_ = 0;
};

}  // namespace chipweave::kube
