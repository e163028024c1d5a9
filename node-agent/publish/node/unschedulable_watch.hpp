// UnschedulableWatch — whether the agent's own Node is unschedulable (cordoned, as kubectl calls
// it).
//
// A watch of metadata does not show that; but a watch of unschedulable Nodes with this name
// contains the Node, or does not. Loop thread only; ends with its destructor.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>

#include "common/codec/kube/watch.hpp"
#include "common/kube/reflector.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::agent {

class UnschedulableWatch {
 public:
  // node: a DNS subdomain, checked before. changed: once it is known, and when it changes.
  UnschedulableWatch(kube::Transport& transport, const std::string& node, std::uint64_t seed,
                     std::function<void(bool)> changed);
  UnschedulableWatch(const UnschedulableWatch&) = delete;
  UnschedulableWatch& operator=(const UnschedulableWatch&) = delete;

  void start() { watch_.start(); }

 private:
  void found(bool unschedulable);

  std::function<void(bool)> changed_;
  std::optional<bool> reported_;
  bool listed_ = false;
  bool unschedulable_ = false;
  bool failing_ = false;  // as logged
  std::mt19937_64 random_;
  kube::Reflector<codec::KubeNodeMetadata> watch_;
};

}  // namespace chipweave::agent
