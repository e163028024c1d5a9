// EventSender — sends events to the API server: they wait in a bounded queue and are sent one at a
// time at a limited rate. One that could not be delivered (no connection, no answer, 429, 5xx) is
// retried with back-off; one that the API server refuses is counted, and each reason logged once.
//
// An event that repeats (same object, reason and note) within six minutes is the same Event object
// with a series, as in client-go. Its name is chosen here, so a repeated request never makes two.
// Owner: the loop thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "common/base/backoff.hpp"
#include "common/base/clock.hpp"
#include "common/codec/kube/objects/event.hpp"
#include "common/kube/transport.hpp"

namespace chipweave::kube {

struct EventLimits {
  std::size_t max_waiting = 4096;  // the oldest Normal event is dropped first, else the oldest
  double per_second = 10;          // in the long run
  int at_once = 50;                // burst size
  Backoff::Waits retry{std::chrono::seconds(1), std::chrono::seconds(60)};
  std::uint64_t seed = 0;  // for the jitter
};

class EventSender {
 public:
  // As client-go: a repetition after a longer pause is a new event.
  static constexpr std::chrono::minutes kSeriesWindow{6};

  EventSender(Transport& transport, const Clock& clock, EventLimits limits);

  // Queues the event, or another occurrence of it. times: how often it occurred since the last call
  // for it.
  void send(const codec::KubeEvent& event, int times = 1);

  struct Stats {
    std::uint64_t sent = 0;
    std::uint64_t refused = 0;  // by the API server
    std::uint64_t dropped = 0;  // queue full
  };
  const Stats& stats() const { return stats_; }

 private:
  // Of one event and its repetitions.
  struct Series {
    codec::KubeEvent event;
    std::string name;
    Clock::Wall first{};
    Clock::Wall last{};
    Clock::Steady seen{};
    int count = 0;
    int stored = 0;  // count that the API server has; 0: it has no such event
    bool waits = false;
  };
  using Key = std::tuple<std::string, std::string, std::string, std::string, std::string, bool,
                         std::string>;
  using Known = std::map<Key, Series>;

  static Key key_of(const codec::KubeEvent& event);
  bool is_idle(const Series& series) const { return !series.waits && sending_ != &series; }
  void begin(Series& series, const codec::KubeEvent& event);
  void enqueue(Known::iterator series);
  void drop_one();
  void pump();
  bool wait_for_token();
  Call request_of(const Series& series) const;
  void ended(Known::iterator series, int count, const Result<Reply>& reply);
  void retry(Known::iterator series, const Result<Reply>& reply);
  void complain(const char* message, const Result<Reply>& reply);

  Transport& transport_;
  const Clock& clock_;
  EventLimits limits_;
  Known known_;
  std::deque<Known::iterator> waiting_;
  const Series* sending_ = nullptr;
  Backoff backoff_;
  double tokens_;
  Clock::Steady refilled_;
  std::uint64_t names_ = 0;
  std::unique_ptr<Ticket> call_;
  std::unique_ptr<Ticket> pause_;
  Stats stats_;
  std::set<std::string> complaints_;  // reasons that have been logged
};

}  // namespace chipweave::kube
