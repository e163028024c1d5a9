// NodeEvents — Kubernetes Events about the faults of this node's chips, as `kubectl describe node`
// shows them: one when a fault is raised, one when it is cleared.
//
// Each fault produces one event. After a restart of the agent, faults that have not changed since
// this boot are not repeated: events are held back until begin() gives the known ones. Owner: the
// loop thread.
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

  // Reasons: ChipUnusable, ChipNetworkDown, LinkDown, HardwareNote for a fault that is raised or
  // changed, FaultCleared for one that is cleared; notes have no event when they are cleared.
  void fault(const FaultChange& change);
  // Once. known: the faults in the inventory of the previous run, with today's chip indices. One of
  // these that is raised unchanged, before begin() or soon after it (some drivers are slow to
  // report again), makes no event.
  void begin(std::vector<domain::Fault> known);

  kube::EventSender::Stats stats() const;

 private:
  bool is_known(const FaultChange& change);
  void send(const FaultChange& change);

  const Clock& clock_;
  std::string node_;
  kube::EventSender sender_;
  bool begun_ = false;
  std::deque<FaultChange> held_;      // before begin()
  std::uint64_t dropped_ = 0;         // events that were dropped
  std::vector<domain::Fault> known_;  // of the previous run, and not raised since
  Clock::Steady suppress_until_{};
};

}  // namespace chipweave::agent
