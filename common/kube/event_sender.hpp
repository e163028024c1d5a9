// EventSender — sends events to the API server, best effort: they wait in a bounded queue and are
// sent one at a time at a limited rate. Failed events are dropped and counted; each reason is
// logged once. Owner: the loop thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>

#include "common/base/clock.hpp"
#include "common/codec/kube/objects/event.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::kube {

struct EventLimits {
  std::size_t max_waiting = 4096;  // the oldest is dropped first
  double per_second = 10;          // in the long run
  int at_once = 50;                // burst size
};

class EventSender {
 public:
  EventSender(Transport& transport, const Clock& clock, EventLimits limits);

  // Queues the event; returns its name.
  std::string send(const codec::KubeEvent& event);
  // Updates the count of the event with that name.
  void count(const codec::EventObject& about, const std::string& name, int times);

  struct Stats {
    std::uint64_t sent = 0;
    std::uint64_t refused = 0;  // by the API server
    std::uint64_t dropped = 0;  // queue full, or no answer
  };
  const Stats& stats() const { return stats_; }

 private:
  void enqueue(Call call);
  void pump();
  void ended(const Result<Reply>& reply);

  Transport& transport_;
  const Clock& clock_;
  EventLimits limits_;
  std::deque<Call> waiting_;
  double tokens_;
  Clock::Steady refilled_;
  std::uint64_t names_ = 0;
  std::unique_ptr<Ticket> call_;
  std::unique_ptr<Ticket> pause_;
  Stats stats_;
  std::set<std::string> complaints_;  // reasons that have been logged
};

}  // namespace chipweave::kube
