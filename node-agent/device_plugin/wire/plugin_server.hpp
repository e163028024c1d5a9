// PluginServer — the gRPC service that the kubelet calls, on a Unix socket. Calls wait until the
// loop has answered them; each is answered once, at the latest by the destructor.
//
// Loop thread, except that gRPC's threads hand calls in. The loop must outlive it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/http/loop.hpp"
#include "node-agent/device_plugin/core/desk.hpp"
#include "node-agent/device_plugin/core/devices.hpp"
#include "node-agent/device_plugin/core/hand_over.hpp"

namespace chipweave::device_plugin {

// Devices by their ids.
using Ids = std::vector<std::string>;

// What the kubelet may hand in at most.
inline constexpr std::size_t kMaxAskedIds = 4096;
inline constexpr std::size_t kMaxWaitingCalls = 256;

struct KubeletCalls {
  template <class T>
  using Reply = std::function<void(Result<T>)>;
  std::function<void()> stream_opened;
  std::function<void()> stream_ended;
  std::function<void(AskedPreference, Reply<Ids>)> preferred;
  std::function<void(std::vector<Ids>, Reply<std::vector<Handed>>)> allocate;
  std::function<void(Ids, Reply<void>)> pre_start;
};

class PluginServer {
 public:
  // socket: checked before; a file that is there is removed. Errors: unavailable.
  static Result<std::unique_ptr<PluginServer>> start(http::Loop& loop, const std::string& socket,
                                                     KubeletCalls calls,
                                                     const std::vector<OfferedDevice>& devices);
  // Ends all calls and streams, and removes the socket.
  ~PluginServer();
  PluginServer(const PluginServer&) = delete;
  PluginServer& operator=(const PluginServer&) = delete;

  // To all streams, and to those to come.
  void offer(const std::vector<OfferedDevice>& devices);

 private:
  PluginServer();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::device_plugin
