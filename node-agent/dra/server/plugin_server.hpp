// PluginServer — the sockets on which the kubelet finds and calls the node's DRA driver:
// plugins_registry/DRIVER-reg.sock and plugins/DRIVER/dra.sock below the kubelet's folder.
//
// gRPC's threads only read and write messages; everything is decided on the loop. Sockets that an
// earlier process has left are replaced, those of a process that listens are not. Owner: the loop
// thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/http/loop.hpp"
#include "node-agent/dra/claims/claim_service.hpp"

namespace chipweave::agent::dra {

struct DeviceHealthEntry {
  std::string device;
  bool healthy = true;
  std::string problem;
  friend bool operator==(const DeviceHealthEntry&, const DeviceHealthEntry&) = default;
};

class PluginServer {
 public:
  struct Options {
    std::string driver;
    std::string node;  // also the pool
    std::string kubelet_folder = "/var/lib/kubelet";
  };
  struct Events {
    // On the loop.
    std::function<void(std::vector<ClaimRef>, std::function<void(PreparedAnswer)>)> prepare;
    std::function<EndedAnswer(const std::vector<ClaimRef>&)> unprepare;
    // The kubelet's word on the registration; empty: registered.
    std::function<void(const std::string& problem)> registered;
  };
  PluginServer(http::Loop& loop, Options options, Events events);
  ~PluginServer();
  PluginServer(const PluginServer&) = delete;
  PluginServer& operator=(const PluginServer&) = delete;

  // Serves until stop(). Errors: invalid_argument (a path that is too long for a socket), conflict
  // (another process serves the driver), unavailable.
  Result<void> start();
  // Calls in progress end as unavailable. start() may follow.
  void stop();
  // Whether both sockets are where the kubelet looks for them: other programs may delete them.
  bool in_place() const;

  // All devices: to the kubelet now, and again before it takes the health as unknown (refresh()).
  void health(std::vector<DeviceHealthEntry> devices);
  void refresh();

  std::string registration_socket() const;
  std::string driver_socket() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::agent::dra
