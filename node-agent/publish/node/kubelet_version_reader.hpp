// KubeletVersionReader — finds out from the agent's own Node whether its kubelet may be asked for
// the devices of pods: before Kubernetes 1.30 such a request can crash it (kubernetes#119560).
//
// Reads the Node once, and again until it names a version, while the version is too old, and when
// told to. Loop thread only; ends with its destructor.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/kube/api_chain.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::agent {

class KubeletVersionReader {
 public:
  // usable: called with each version that was read; false: too old, as the log says once.
  KubeletVersionReader(kube::Transport& transport, const std::string& node,
                       kube::ApiChain::Options chain, std::function<void(bool usable)> usable);
  KubeletVersionReader(const KubeletVersionReader&) = delete;
  KubeletVersionReader& operator=(const KubeletVersionReader&) = delete;

  // Reads it now, unless it is being read.
  void read();

 private:
  void request();
  void answered(Result<kube::Reply> reply);
  void found(const std::string& text);

  kube::ApiChain chain_;
  std::string path_;
  std::function<void(bool usable)> usable_;
  bool busy_ = false;
};

}  // namespace chipweave::agent
