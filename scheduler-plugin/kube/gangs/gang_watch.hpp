// GangWatch — lists and watches the owner objects of gangs, of the kinds that are switched on, and
// reports what they say about each gang.
//
// A kind that the API server does not serve is not reported: its watch tries again now and then,
// and the kind's older version is watched beside it. Owner: the loop thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/kube/reflector.hpp"
#include "scheduler-plugin/kube/gangs/gang_book.hpp"

namespace chipweave::sched {

class GangWatch {
 public:
  struct Events {
    GangBook::Changed changed;
    std::function<void(const kube::WatchFailure&)> failed;  // the watch retries after it
    // An object cannot be used: "PodGroup team/train", and why.
    std::function<void(const std::string& object, const Error& why)> unusable;
  };
  // kinds: settings of codec::gang_sources().
  GangWatch(kube::Transport& transport, const std::vector<std::string>& kinds, Events events,
            const std::function<double()>& jitter);

  void start();
  // Whether all objects were listed once, as far as the API server serves their kinds.
  bool known() const;
  std::size_t gangs() const { return book_.gangs(); }
  // GangBook::object_of(), with the version that the API server serves.
  std::optional<codec::EventObject> object_of(const GangKey& gang) const;

 private:
  using Reflector = kube::Reflector<codec::KubeGangObject>;
  // One version of a kind.
  struct Watched {
    std::size_t source = 0;
    std::string api_version;  // "batch/v1"
    std::unique_ptr<Reflector> reflector;
    bool missing = false;  // the API server does not serve it
    Watched* older = nullptr;
    bool started = false;
  };
  void add(kube::Transport& transport, std::size_t source, const std::function<double()>& jitter);
  std::unique_ptr<Watched> watched(kube::Transport& transport, std::size_t source,
                                   const char* version, const std::function<double()>& jitter);
  static void start(Watched& one);
  void take(std::size_t source, const codec::KubeGangObject& object);
  void drop(std::size_t source, const std::string& key);
  void failed(Watched& one, const kube::WatchFailure& failure);

  Events events_;
  GangBook book_;
  std::vector<std::unique_ptr<Watched>> watched_;
};

}  // namespace chipweave::sched
