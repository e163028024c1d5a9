// KubeletClient — requests to the kubelet: for its list of pods, and to register the plugin.
//
// Loop thread; gRPC's threads only read answers and post. The loop must outlive it; destroying it
// cancels what is in flight.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "common/base/result.hpp"
#include "common/http/loop.hpp"
#include "node-agent/device_plugin/core/listed.hpp"

namespace chipweave::device_plugin {

class KubeletClient {
 public:
  struct Options {
    std::string pod_resources;   // socket; both checked before
    std::string registration;    // socket
    std::string resource;        // whose devices are listed
    std::string other_resource;  // and this one's; empty: there is none
    std::chrono::milliseconds list_deadline{2'000};
    std::chrono::milliseconds register_deadline{5'000};
  };
  KubeletClient(http::Loop& loop, Options options);
  ~KubeletClient();
  KubeletClient(const KubeletClient&) = delete;
  KubeletClient& operator=(const KubeletClient&) = delete;

  // One at a time. Errors: those of the call; limit_exceeded for more than any node has.
  void list(std::function<void(Result<Listed>)> done);
  bool listing() const;
  // One at a time. endpoint: name of our socket in the kubelet's folder.
  void enrol(const std::string& endpoint, std::function<void(Result<void>)> done);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::device_plugin
