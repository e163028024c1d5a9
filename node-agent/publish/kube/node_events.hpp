// NodeEvents — what `kubectl describe node` shows of its chips' faults: an event when one comes,
// one when it goes.
//
// A fault that an earlier run of the agent has told is not news after a restart. So everything is
// held back until begin() says which these are. Owner: the loop thread.
#pragma once

#include <deque>
#include <string>
#include <vector>

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
  // Once. told: the faults that stand in the inventory of the run before, as the chips are numbered
  // now. One of these that is raised as it was, before begin() or soon after it (some drivers are
  // slow to say it again), makes no event.
  void begin(std::vector<domain::Fault> told);

  kube::EventSender::Stats stats() const;

 private:
  bool is_old(const FaultChange& change);
  void send(const FaultChange& change);

  const Clock& clock_;
  std::string node_;
  kube::EventSender sender_;
  bool begun_ = false;
  std::deque<FaultChange> held_;     // before begin()
  std::uint64_t dropped_ = 0;        // of them
  std::vector<domain::Fault> told_;  // by the run before, and not raised since
  Clock::Steady told_until_{};
};

}  // namespace chipweave::agent
