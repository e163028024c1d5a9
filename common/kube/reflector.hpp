// Reflector — reports the objects of one collection of the API server and their changes: sends the
// requests of a ListWatch over a Transport.
//
// Owner: the loop thread. No callback comes after its destructor.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/codec/kube/watch.hpp"
#include "common/kube/list_watch.hpp"
#include "common/kube/mirror.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::kube {

template <class Object>
class Reflector {
 public:
  struct Options {
    std::string path;      // "/api/v1/pods"
    std::string selector;  // "fieldSelector=spec.nodeName%3Dn1"; may be empty
    // Requests only the objects' metadata (PartialObjectMetadata): for objects of which nothing
    // else is read. Servers that cannot convert answer with whole objects, which are read as well.
    bool metadata_only = false;
    std::size_t page = 500;
    std::chrono::seconds watch_for{420};   // then the server ends the watch
    std::chrono::seconds dead_after{150};  // without a byte: bookmarks come every minute
    ListWatch::Options list_watch;
  };
  struct Events {
    typename Mirror<Object>::Changes changed;
    std::function<void()> synced;  // after each complete list
    // A failure that will be retried; `what` includes the path.
    std::function<void(const WatchFailure& failure)> failed;
  };

  Reflector(Transport& transport, Options options, Events events, std::function<double()> jitter);
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  void start();
  bool synced() const { return machine_.synced(); }
  // Takes an object received outside the watch, newer than the last reported one.
  void note(Object object) { mirror_.note(std::move(object), machine_.round()); }

 private:
  void act(const WatchRequest& request);
  void list(const WatchRequest& request);
  void watch(const WatchRequest& request);
  void take_page(Result<Reply> reply);
  // Returns the next request if the watch is over.
  std::optional<WatchRequest> take_line(std::string& line);
  void take_bytes(std::string_view bytes);
  void fail(const WatchFailure& failure);
  void note_complete(std::uint64_t before);
  std::chrono::milliseconds lasted() const;

  Transport& transport_;
  Options options_;
  Events events_;
  ListWatch machine_;
  Mirror<Object> mirror_;
  codec::WatchReader<Object> reader_;
  std::optional<codec::LineSplitter> lines_;
  std::chrono::steady_clock::time_point begun_{};
  std::unique_ptr<Ticket> ticket_;
};

extern template class Reflector<codec::KubePod>;
extern template class Reflector<codec::KubeRankTablePod>;
extern template class Reflector<codec::KubeNode>;
extern template class Reflector<codec::KubeNodeMetadata>;
extern template class Reflector<codec::KubeInventory>;
extern template class Reflector<codec::KubeLease>;
extern template class Reflector<codec::KubeConfigMap>;
extern template class Reflector<codec::KubeClaim>;
extern template class Reflector<codec::KubeSlice>;
extern template class Reflector<codec::KubeDeviceClass>;
extern template class Reflector<codec::KubeGangObject>;
extern template class Reflector<codec::KubeDocument>;

}  // namespace chipweave::kube
