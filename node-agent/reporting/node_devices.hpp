// NodeDevices — the devices that DRA drivers offer on the agent's own node, by their
// ResourceSlices. Without them devices of claims cannot be told apart.
//
// The kubelet deletes the slices of a driver that is away, but not the claims of pods that run:
// what was known of a pool last stays until the next news of it.
//
// Loop thread only; ends with its destructor.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "common/kube/device_catalog.hpp"
#include "common/kube/reflector.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::agent {

class NodeDevices {
 public:
  // node: a DNS subdomain, checked before. changed: once they are known, and when they change.
  NodeDevices(kube::Transport& transport, const std::string& node, std::uint64_t seed,
              std::function<void()> changed);
  NodeDevices(const NodeDevices&) = delete;
  NodeDevices& operator=(const NodeDevices&) = delete;

  void start() { watch_.start(); }
  // Null: not known, or the API server does not serve slices.
  const kube::DeviceCatalog* catalog() const { return listed_ ? &catalog_ : nullptr; }

 private:
  void take(codec::KubeSlice&& slice);
  void drop(const std::string& slice);
  void news();

  std::function<void()> changed_;
  kube::DeviceCatalog catalog_;                      // with the slices of gone_
  using Pool = std::pair<std::string, std::string>;  // driver, pool
  std::map<std::string, Pool> there_;                // by name
  std::map<std::string, Pool> gone_;                 // likewise
  bool listed_ = false;
  bool failing_ = false;  // as logged
  std::mt19937_64 random_;
  kube::Reflector<codec::KubeSlice> watch_;
};

}  // namespace chipweave::agent
