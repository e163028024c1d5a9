// Observer — receives what the decision core did and saw, for metrics, the log, Kubernetes events
// and followers, which stay out of the decisions.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
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

// One decision: how long it took and how many nodes fitted.
struct DecisionMade {
  Verb verb;
  std::chrono::nanoseconds took;
  std::size_t fits = 0;
};

struct NodesRejected {
  Cause cause;
  std::size_t nodes = 0;
};

struct PodBound {
  PodKey pod;
  std::string uid;
  std::string node;
  std::string chips;  // vendor indices, "0,1"
  double gbps = 0;
  double best_gbps = 0;
  std::string decision;
  std::optional<double> unenforced_gbps;  // Decision::unenforced_gbps
};

// No node fits a waiting pod; why: the summary of reasons.
struct PodUnplaceable {
  PodKey pod;
  std::string uid;
  std::string why;
};

// A pod that waited for chips is bound, by any scheduler, or gone.
struct PodWaitsNoMore {
  std::string uid;
};

struct BindFailed {
  Binding binding;
  Error error;
};

// The pod is bound with these chips, by our decision or according to its annotations.
struct PodPlaced {
  PlacedPod pod;
};

// A placed pod is gone.
struct PodFreed {
  PlacedPod pod;
};

// A bound pod claims chips (vendor indices) of another bound pod.
struct PodDisputed {
  PodKey pod;
  std::string node;
  std::vector<int> chips;
};

// The kubelet has given other chips (vendor indices) to a pod than were chosen for it.
struct PodDrifted {
  PodKey pod;
  std::string uid;
  std::string node;
  std::vector<int> chosen;
  std::vector<int> given;
  double chosen_gbps = 0;
  double given_gbps = 0;
  bool leads = false;  // whether this replica decides, and reports it to people
};

// Chips (vendor indices) of the node cannot be handed over to containers; none: all can again.
struct NodeWithheld {
  std::string node;
  std::vector<int> chips;
  std::string why;     // of the first
  bool leads = false;  // as in PodDrifted
};

// A bound pod is on a node that does not fit into the node table.
struct PodUnaccounted {
  PodKey pod;
  std::string node;
};

// A gang, with one of its pods.
struct GangRef {
  std::string ns;
  std::string framework;
  std::string name;
  PodKey pod;
  std::string uid;  // of that pod
  std::string text() const { return ns + "/" + name; }
};

// All pods of a gang that must start together have their places.
struct GangPlanned {
  GangRef gang;
  std::string plan;  // its id
  std::size_t pods = 0;
  std::vector<int> domains;    // by level of the network, how many it uses
  std::optional<double> gbps;  // predicted, of the whole gang
  std::chrono::nanoseconds took{};
  std::chrono::nanoseconds searched{};  // of it, for nodes, chips and ranks; the rest reserves them
};

// The pods of a gang that must start together do not fit.
struct GangUnplaceable {
  GangRef gang;
  std::string why;
};

// Chips that come free on some nodes are kept for a gang from now on.
struct GangKeepsChips {
  GangRef gang;
  std::size_t nodes = 0;
};

// Not all pods of a planned gang were bound in time: their places are given up.
struct GangReleased {
  GangRef gang;
  std::string plan;
};

// Pods that a gang cannot start without have not come for a long time.
struct GangOverdue {
  GangRef gang;
  std::size_t pods = 0;  // that are there
  int quorum = 0;        // that must be
};

// What ends so that a gang fits: pods of a gang, or a single pod.
struct PreemptionVictim {
  std::string name;  // "team/train"
  bool gang = false;
  std::size_t pods = 0;
};

// Pods of lower priority have to end so that a gang fits.
struct GangPreempting {
  GangRef gang;
  std::size_t pods = 0;
  std::size_t gangs = 0;  // of these pods
  std::vector<PreemptionVictim> victims{};
};

// Pods of a gang end so that another one ("namespace/name") fits.
struct GangPreempted {
  GangRef gang;
  std::size_t pods = 0;
  std::string by;
};

// The API server ends a pod so that a gang ("namespace/name") fits.
struct PodPreempted {
  PodKey pod;
  std::string uid;
  std::string gang;
};

// No pods end so that the gang fits, or no more do.
struct GangNotPreempting {
  GangRef gang;
  std::string why;
  bool begun = false;  // pods were to end (GangPreempting)
};

// A bound pod of a gang ("namespace/name") whose node or chip failed is ended, or, where `error` is
// not empty, could not be; it is tried again.
struct GangPodEnded {
  PodKey pod;
  std::string uid;
  std::string gang;
  std::string why;
  std::string error;
};

// The plan of a gang could not be stored: a restart would lose it.
struct GangNotStored {
  std::string gang;  // GangTable's id
  std::string plan;
  std::string why;
};

// The gate of a pod could not be removed; it is tried again.
struct GangGateFailed {
  std::string uid;
  std::string why;
};

// kube-scheduler could not be told on which node a pod of a gang is expected.
struct GangNotNominated {
  std::string uid;
  std::string why;
};

using Observation =
    std::variant<DecisionMade, NodesRejected, ReservationEvent, PodBound, PodUnplaceable,
                 PodWaitsNoMore, BindFailed, PodPlaced, PodFreed, PodDisputed, PodDrifted,
                 PodUnaccounted, NodeWithheld, GangPlanned, GangUnplaceable, GangReleased,
                 GangPreempting, GangPreempted, PodPreempted, GangNotPreempting, GangNotStored,
                 GangGateFailed, GangNotNominated, GangOverdue, GangPodEnded, GangKeepsChips>;

// A visitor from lambdas; the last takes `const auto&`, for what the observer does not follow.
template <class... Cases>
struct ByKind : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
ByKind(Cases...) -> ByKind<Cases...>;

class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;
  virtual void on(const Observation& seen) = 0;
};

// Ignores everything.
class NullObserver final : public Observer {
 public:
  void on(const Observation& /*seen*/) override {}
};

// Forwards to several observers, which must outlive it.
class Observers final : public Observer {
 public:
  void add(Observer& one) { all_.push_back(&one); }
  void on(const Observation& seen) override {
    for (Observer* one : all_) one->on(seen);
  }

 private:
  std::vector<Observer*> all_;
};

}  // namespace chipweave::sched
