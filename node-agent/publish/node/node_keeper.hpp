// NodeKeeper — watches the agent's own Node, passes on its labels and annotations, and keeps the
// agent's labels and annotations on it (metadata_plan.hpp).
//
// Each change is a merge patch of exactly the agent's keys against the version that was seen; at
// most one per `write_gap`, always with the newest desired state. Loop thread only; ends with its
// destructor.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <string>

#include "common/base/pace.hpp"
#include "common/kube/api_chain.hpp"
#include "common/kube/reflector.hpp"
#include "common/kube/transport.hpp"
#include "node-agent/publish/node/metadata_plan.hpp"

namespace chipweave::agent {

class NodeKeeper {
 public:
  struct Options {
    std::string node;  // a DNS subdomain, checked before
    std::chrono::milliseconds write_gap{1'000};
    kube::ApiChain::Options chain;
  };
  struct Events {
    // Each version of the Node; it may call want() and carried_out().
    std::function<void(const codec::KubeNodeMetadata& node)> seen;
    std::function<void(bool)> works;
    std::function<void()> listed = nullptr;  // it is known whether the Node exists
  };
  NodeKeeper(kube::Transport& transport, Options options, Events events);
  NodeKeeper(const NodeKeeper&) = delete;
  NodeKeeper& operator=(const NodeKeeper&) = delete;

  void want(NodeMetadata wanted);
  // Removes the annotation of a command, unless its value has changed meanwhile.
  void carried_out(const std::string& annotation, const std::string& value);
  void start();
  void stop();

 private:
  void seen(codec::KubeNodeMetadata node);
  void look();
  void step();
  void patch(const codec::ObjectChanges& changes);
  void patched(Result<kube::Reply> reply, const codec::ObjectChanges& changes);
  // False if the body is not this Node; a retry is scheduled then.
  bool take(std::string body);

  kube::Transport& transport_;
  Options options_;
  Events events_;
  kube::ApiChain chain_;
  Pace pace_;
  std::mt19937_64 random_;
  std::optional<kube::Reflector<codec::KubeNodeMetadata>> watch_;
  codec::WatchReader<codec::KubeNodeMetadata> reader_;
  std::string path_;
  std::optional<codec::KubeNodeMetadata> node_;  // as last seen; absent: there is none
  NodeMetadata wanted_;
  codec::StringMap done_;  // commands that were carried out, until they are removed
  bool busy_ = false;      // a request or a wait is in flight
};

}  // namespace chipweave::agent
