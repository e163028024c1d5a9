// NodeKeeper — what the Node of this agent says to it, and what the agent says on it: watches that
// one object, tells of its labels and annotations, and keeps ours on it (compat/mark_plan.hpp).
//
// Each change is a merge patch of exactly the keys that are ours, for the version that was seen; at
// most one in `write_gap`, and only the newest wish counts.
// Loop thread only; ends with its destructor.
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
#include "node-agent/publish/node/mark_plan.hpp"

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
    std::function<void(const codec::KubeNodeMarks& node)> seen;
    std::function<void(bool)> works;
    std::function<void()> listed = nullptr;  // it is known whether there is such a Node
  };
  NodeKeeper(kube::Transport& transport, Options options, Events events);
  NodeKeeper(const NodeKeeper&) = delete;
  NodeKeeper& operator=(const NodeKeeper&) = delete;

  void want(NodeMarks wanted);
  // This annotation was a command: it is removed unless it has got another value meanwhile.
  void carried_out(const std::string& annotation, const std::string& value);
  void start();
  void stop();

 private:
  void seen(codec::KubeNodeMarks node);
  void look();
  void step();
  void patch(const codec::ObjectChanges& changes);
  void patched(Result<kube::Reply> reply, const codec::ObjectChanges& changes);
  // False when it is no Node; then that is arranged.
  bool take(std::string body);

  kube::Transport& transport_;
  Options options_;
  Events events_;
  kube::ApiChain chain_;
  Pace pace_;
  std::mt19937_64 random_;
  std::optional<kube::Reflector<codec::KubeNodeMarks>> watch_;
  codec::WatchReader<codec::KubeNodeMarks> reader_;
  std::string path_;
  std::optional<codec::KubeNodeMarks> node_;  // as last seen; absent: there is none
  NodeMarks wanted_;
  codec::StringMap done_;  // commands that were carried out, until they are gone
  bool busy_ = false;      // a request or a wait is under way
};

}  // namespace chipweave::agent
