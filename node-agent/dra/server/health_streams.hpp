// HealthStreams — the kubelet's streams of the devices' health. Each gets the newest list, and
// lists that it was too slow for are left out.
//
// Any thread.
#pragma once

#include <memory>
#include <mutex>
#include <set>

#include <grpcpp/support/server_callback.h>

#include "kubelet/dra_health.grpc.pb.h"

namespace chipweave::agent::dra {

class HealthStreams {
 public:
  using List = ::v1alpha1::NodeWatchResourcesResponse;

  HealthStreams() = default;
  HealthStreams(const HealthStreams&) = delete;
  HealthStreams& operator=(const HealthStreams&) = delete;

  // A stream that gets the newest list at once, if there is one. It deletes itself.
  grpc::ServerWriteReactor<List>* open();
  void publish(List list);
  // Ends all, and those that come later.
  void close();
  void reopen();

 private:
  class Stream;
  void drop(Stream* stream);

  std::mutex mutex_;
  std::shared_ptr<const List> newest_;
  std::set<Stream*> streams_;
  bool closed_ = false;
};

}  // namespace chipweave::agent::dra
