// PodResourcesClient — polls the kubelet of this node for the devices that it has allocated to
// pods, over its PodResources socket.
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

#include "common/http/loop.hpp"
#include "node-agent/kubelet/chips_in_use.hpp"

namespace chipweave::agent {

struct PodResourcesOptions {
  std::string socket;  // checked before (check_socket_path)
  // From an answer to the next call. The kubelet accepts 100 calls a second from all clients
  // together, and what follows from an answer is written at most once a second.
  std::chrono::milliseconds period{1000};
  // For one call. A kubelet that is starting containers may be slow.
  std::chrono::milliseconds deadline{5000};
  std::chrono::milliseconds backoff_min{1000};  // after a failure
  std::chrono::milliseconds backoff_max{10000};
  std::uint64_t seed = 0;  // for the jitter
};

// Both may be empty.
struct PodResourcesEvents {
  // The devices that matter to chips_in_use(): with the first answer, and when they change.
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

  // Starts polling. Calling it again has no effect.
  void start();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace chipweave::agent
