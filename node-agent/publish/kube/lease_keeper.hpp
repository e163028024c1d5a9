// LeaseKeeper — the heartbeat of this agent: a Lease named after the node that is renewed every few
// seconds, so that an agent that is gone can be told from one with nothing new to report.
//
// The Lease stays when the agent ends, and expires.
// Loop thread only; ends with its destructor.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "common/base/clock.hpp"
#include "common/codec/kube/objects/lease.hpp"
#include "common/kube/api_chain.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::agent {

class LeaseKeeper {
 public:
  struct Options {
    std::string ns;
    std::string node;
    std::string boot_id;
    std::chrono::milliseconds renew_every{10'000};
    std::chrono::seconds duration{30};
    kube::ApiChain::Options chain;
  };
  struct Events {
    std::function<void()> renewed;
    std::function<void(bool)> works;
  };
  LeaseKeeper(kube::Transport& transport, const Clock& clock, Options options, Events events);
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  // Takes the lease from any other holder: a lease of this name belongs to this node's agent.
  void start();
  void stop() { chain_.stop(); }

 private:
  void read();
  // Creates it (if no version is known) or replaces it.
  void put();
  void answered(Result<kube::Reply> reply);
  // False if the answer cannot be parsed; a retry is scheduled then.
  bool take_version(std::string body);

  const Clock& clock_;
  Options options_;
  Events events_;
  kube::ApiChain chain_;
  codec::AgentLease lease_;
};

}  // namespace chipweave::agent
