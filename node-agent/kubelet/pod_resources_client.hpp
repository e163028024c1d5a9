// PodResourcesClient — asks the kubelet of this node, over its PodResources socket, which devices
// it has allocated to pods, at the pace of list_pace.hpp. Not for kubelets before 1.30, which such
// a request can crash: its owner checks.
//
// Every pod that the kubelet lists counts, whatever the state of its containers: its devices are
// not available as long as it is listed. While the kubelet does not respond, its last answer stays
// in force.
//
// Owned by the loop: every member on the loop thread; gRPC's threads only read the answer and post.
// The loop must outlive it. Destroying it cancels a call in flight.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/http/loop.hpp"
#include "node-agent/kubelet/allocated_device.hpp"
#include "node-agent/kubelet/list_pace.hpp"

namespace chipweave::agent {

struct PodResourcesOptions {
  std::string socket;  // checked before (check_socket_path)
  // What the names of the resources that are wanted begin with: "example.com/"; "": all.
  std::vector<std::string> resources;
  ListPace::Gaps gaps;
  // Something that is kept while a call is in flight; null: the kubelet must not be asked now, and
  // is when there is one. Empty: it may be asked at any time.
  std::function<std::shared_ptr<const void>()> permit;
  std::chrono::milliseconds permit_again{100};
  // For one call. A kubelet that is starting containers may be slow.
  std::chrono::milliseconds deadline{5000};
  std::uint64_t seed = 0;  // for the jitter
};

// Both may be empty.
struct PodResourcesEvents {
  // The devices of the wanted resources and their containers: with the first answer, and when they
  // change.
  std::function<void(const AllocatedDevices&)> allocated;
  // true with the first answer and after an outage, false when a call fails.
  std::function<void(bool)> answers;
};

class PodResourcesClient {
 public:
  PodResourcesClient(http::Loop& loop, PodResourcesOptions options, PodResourcesEvents events);
  ~PodResourcesClient();
  PodResourcesClient(const PodResourcesClient&) = delete;
  PodResourcesClient& operator=(const PodResourcesClient&) = delete;

  // Starts asking. Calling it again has no effect.
  void start();
  // No call begins from now on, until start().
  void stop();
  // A function for any thread, also after this object's end: the devices of pods may have changed.
  std::function<void()> change_notifier() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace chipweave::agent
