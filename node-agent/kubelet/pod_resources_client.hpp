// PodResourcesClient — asks the kubelet of this node which devices it has given to pods, again and
// again, over its PodResources socket.
//
// Every pod that the kubelet lists counts, whatever has become of its containers: as long as it is
// listed, its devices are given to nobody else. While the kubelet does not answer, what it said
// last stays in force.
//
// Owned by the loop: every member on the loop thread, gRPC's threads only read the answer and post.
// The loop must outlive it. Destroying it ends a call under way.
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
  // From an answer to the next question. The kubelet takes 100 questions a second from everybody
  // together, and what follows from the answer is written once a second at most.
  std::chrono::milliseconds period{1000};
  // For one answer. A kubelet that starts containers may be slow.
  std::chrono::milliseconds deadline{5000};
  std::chrono::milliseconds backoff_least{1000};  // after a failure
  std::chrono::milliseconds backoff_most{10000};
  std::uint64_t seed = 0;  // of the jitter
};

// Both may be empty.
struct PodResourcesEvents {
  // The devices that matter to chips_in_use(): with the first answer, and when they are others.
  std::function<void(const GivenDevices&)> given;
  // true with the first answer, false when one fails to come, and so on.
  std::function<void(bool)> answers;
};

class PodResourcesClient {
 public:
  PodResourcesClient(http::Loop& loop, PodResourcesOptions options, PodResourcesEvents events);
  ~PodResourcesClient();
  PodResourcesClient(const PodResourcesClient&) = delete;
  PodResourcesClient& operator=(const PodResourcesClient&) = delete;

  // Asks for the first time. Called again it does nothing.
  void start();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace chipweave::agent
