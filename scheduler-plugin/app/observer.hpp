// Observer — receives the decision core's events for metrics and logs, which stay out of the
// decisions.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-plugin/model/binding.hpp"
#include "scheduler-plugin/model/placement.hpp"
#include "scheduler-plugin/model/verdict.hpp"

namespace chipweave::sched {

// predicate: one node in a Volcano session; admit: a binding by another scheduler.
enum class Verb { filter, prioritize, bind, place, predicate, allocate, admit };
inline constexpr std::array kVerbs{Verb::filter,    Verb::prioritize, Verb::bind, Verb::place,
                                   Verb::predicate, Verb::allocate,   Verb::admit};
std::string_view to_string(Verb verb);

enum class ReservationEvent { held, confirmed, expired, dropped };
std::string_view to_string(ReservationEvent event);

struct BoundPod {
  PodKey pod;
  std::string uid;
  std::string node;
  std::string chips;  // vendor indices, "0,1"
  double gbps = 0;
  double best_gbps = 0;
  std::string decision;
};

class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;
  // One decision: how long it took and how many nodes fitted.
  virtual void decided(Verb verb, std::chrono::nanoseconds took, std::size_t fits) = 0;
  virtual void rejected(Cause cause, std::size_t nodes) = 0;
  virtual void reservation(ReservationEvent event) = 0;
  virtual void bound(const BoundPod& pod) = 0;
  // No node fits a waiting pod; why: the summary of reasons.
  virtual void unplaceable(const PodKey& pod, std::string_view uid, std::string_view why) = 0;
  virtual void bind_failed(const Binding& binding, const Error& error) = 0;
  // The pod is bound with these chips, by our decision or according to its annotations.
  virtual void placed(const PlacedPod& pod) = 0;
  // A placed pod is gone.
  virtual void freed(const PlacedPod& pod) = 0;
  // A bound pod claims chips (vendor indices) of another bound pod.
  virtual void disputed(const PodKey& pod, std::string_view node,
                        const std::vector<int>& chips) = 0;
  // A bound pod is on a node that does not fit into the node table.
  virtual void unaccounted(const PodKey& pod, std::string_view node) = 0;
};

// Ignores everything.
class NullObserver : public Observer {
 public:
  void decided(Verb, std::chrono::nanoseconds, std::size_t) override {}
  void rejected(Cause, std::size_t) override {}
  void reservation(ReservationEvent) override {}
  void bound(const BoundPod&) override {}
  void unplaceable(const PodKey&, std::string_view, std::string_view) override {}
  void bind_failed(const Binding&, const Error&) override {}
  void placed(const PlacedPod&) override {}
  void freed(const PlacedPod&) override {}
  void disputed(const PodKey&, std::string_view, const std::vector<int>&) override {}
  void unaccounted(const PodKey&, std::string_view) override {}
};

// Forwards to several observers, which must outlive it.
class Observers final : public Observer {
 public:
  void add(Observer& one) { all_.push_back(&one); }

  void decided(Verb verb, std::chrono::nanoseconds took, std::size_t fits) override;
  void rejected(Cause cause, std::size_t nodes) override;
  void reservation(ReservationEvent event) override;
  void bound(const BoundPod& pod) override;
  void unplaceable(const PodKey& pod, std::string_view uid, std::string_view why) override;
  void bind_failed(const Binding& binding, const Error& error) override;
  void placed(const PlacedPod& pod) override;
  void freed(const PlacedPod& pod) override;
  void disputed(const PodKey& pod, std::string_view node, const std::vector<int>& chips) override;
  void unaccounted(const PodKey& pod, std::string_view node) override;

 private:
  std::vector<Observer*> all_;
};

}  // namespace chipweave::sched
