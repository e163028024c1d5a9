// SlicePublisher — keeps the ResourceSlices of this node's DRA driver as they should be: creates,
// updates and deletes them, also after changes by others. While another driver or a device plugin
// gives away the chips of the node, it deletes them.
//
// Only the latest state counts. One request at a time; at most one round of reads each time that
// slices of the node change, and one each `check_every`. Loop thread only; ends with its
// destructor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "common/kube/api_chain.hpp"
#include "common/kube/reflector.hpp"
#include "common/kube/transport.hpp"
#include "node-agent/app/node_state.hpp"
#include "node-agent/dra/slices/slice_content.hpp"
#include "node-agent/sources/host_devices.hpp"

namespace chipweave::agent::dra {

class SlicePublisher {
 public:
  using Ms = std::chrono::milliseconds;
  struct Options {
    PoolOptions pool;
    Ms check_every{60'000};
    // After it taints that the API server did not store are tried again: it may be a newer one.
    Ms taints_again_every{3'600'000};
    std::uint64_t seed = 0;
    bool watch = true;  // of the node's slices; tests may do without
  };
  struct Events {
    // When it changes: why nothing is offered; empty: the slices are offered.
    std::function<void(const std::string& why)> conflict;
    std::function<void(bool)> works;
  };
  SlicePublisher(kube::Transport& transport, const HostDevices& host, Options options,
                 Events events);
  SlicePublisher(const SlicePublisher&) = delete;
  SlicePublisher& operator=(const SlicePublisher&) = delete;

  // The first state starts it.
  void want(NodeStatePtr state);
  void stop();

 private:
  enum class Phase { stopped, busy, resting };

  void look();
  void node_read(const std::string& body);
  void slices_read(const std::string& body);
  void step();
  void send(SliceWrite write);
  void written(SliceWrite write, Result<kube::Reply> reply);
  void rest();
  void judge();
  void seen(const codec::KubeSlice& slice);
  void gone(const std::string& name);
  void news();

  kube::Transport& transport_;
  const HostDevices& host_;
  Options options_;
  Events events_;
  kube::ApiChain chain_;
  std::mt19937_64 random_;
  kube::Reflector<codec::KubeSlice> watch_;
  Phase phase_ = Phase::stopped;
  bool again_ = false;  // something has changed since the round began
  NodeStatePtr state_;
  codec::NodeFacts node_;
  std::vector<codec::ResourceSlice> all_;  // of the node, as last read or written
  std::optional<std::string> conflict_;    // as last told
  std::optional<std::chrono::steady_clock::time_point> no_taints_since_;
};

}  // namespace chipweave::agent::dra
