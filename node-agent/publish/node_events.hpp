// NodeEvents — what `kubectl describe node` shows of its chips' faults: an event when one comes,
// one when it goes. Owner: the loop thread.
#pragma once

#include <string>

#include "common/base/clock.hpp"
#include "common/kube/event_sender.hpp"
#include "common/kube/transport.hpp"
#include "node-agent/app/agent.hpp"

namespace chipweave::agent {

class NodeEvents {
 public:
  // `transport` and `clock` must outlive it.
  NodeEvents(kube::Transport& transport, const Clock& clock, std::string node);

  // Reasons: ChipUnusable, ChipNetworkDown, LinkDown, HardwareNote when it comes or worsens,
  // FaultCleared when it goes. Notes that come and go by themselves are told once, not twice.
  void fault(const FaultChange& change);

 private:
  std::string node_;
  kube::EventSender sender_;
};

}  // namespace chipweave::agent
