// LeaseKeeper — the sign of life of this agent: a Lease named as the node that is renewed every few
// seconds, so that silence can be told from having nothing new to say.
//
// Left behind when the agent ends: that nobody renews it any more is what it has to say then.
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

  // Takes the lease whoever holds it: a lease of this name is of this node's agent.
  void start();
  void stop() { chain_.stop(); }

 private:
  void look();
  // Creates it (no version known) or replaces it.
  void put();
  void answered(Result<kube::Reply> reply);
  // False when the answer cannot be understood; then that is arranged.
  bool take_version(std::string body);

  const Clock& clock_;
  Options options_;
  Events events_;
  kube::ApiChain chain_;
  codec::AgentLease lease_;
};

}  // namespace chipweave::agent
