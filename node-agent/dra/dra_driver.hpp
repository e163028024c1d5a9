// DraDriver — the DRA driver of this node: offers its chips in ResourceSlices, registers with the
// kubelet, and prepares and ends claims for it.
//
// Owner: the reporting to a cluster. Loop thread only; ends with its destructor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/http/loop.hpp"
#include "common/kube/transport.hpp"
#include "node-agent/app/node_state.hpp"
#include "node-agent/dra/dra_options.hpp"

namespace chipweave::agent::dra {

class DraDriver {
 public:
  // contested: when it changes, who else gives the chips of the node away; empty: no other. May be
  // empty.
  DraDriver(http::Loop& loop, kube::Transport& transport, DraOptions options,
            std::function<void(const std::string& why)> contested);
  ~DraDriver();
  DraDriver(const DraDriver&) = delete;
  DraDriver& operator=(const DraDriver&) = delete;

  // Serves the kubelet, also before the machine is known: claims can be ended then.
  void start();
  void want(const NodeStatePtr& state);
  // The slices stay: the kubelet deletes them when the driver does not come back.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::agent::dra
