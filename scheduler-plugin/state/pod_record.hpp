// PodRecord — everything the scheduler knows about one pod besides the cluster's own object and the
// chips in the ledger: its state, and the data that belongs to that state.
//
// One record per uid, from the time the pod is first heard of until it is gone; what belongs to a
// state ends with it. Owner: the loop thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "common/base/backoff.hpp"
#include "common/base/clock.hpp"
#include "scheduler-plugin/model/binding.hpp"
#include "scheduler-plugin/model/decision.hpp"
#include "scheduler-plugin/model/placement.hpp"
#include "scheduler-plugin/model/pod_state.hpp"
#include "scheduler-plugin/state/cluster.hpp"

namespace chipweave::sched {

// A binding that was sent to the cluster, or admitted for another scheduler.
struct InFlightBinding {
  Binding binding;
  Decision decision;
  Annotations annotations;
  std::optional<ClaimOrder> claim;
  std::uint64_t term = 0;      // of the last request to the cluster
  std::uint64_t question = 0;  // number of the last request; 0: only admitted
  // Another one whenever another binding may reach the API server: what was read there earlier does
  // not show its outcome. No two bindings ever have the same.
  std::uint64_t epoch = 0;
  Clock::Steady ask_again{};       // when to check it unless a caller does first
  Clock::Steady admitted_until{};  // until then the admitted binding may still be stored
  Clock::Steady admitted_since{};  // first of the admissions that followed each other
  bool admitted_only() const { return question == 0; }
};

// Chips of an admitted binding whose outcome is unknown while its pod is being bound to another
// node.
struct SecondSet {
  std::string holding;     // its name in the ledger
  std::uint64_t term = 0;  // of the admission
  Clock::Steady ask_again{};
};

// A placement that claims chips of another bound pod. Published only when it lasts, since the two
// pods' updates arrive at different times.
struct Dispute {
  Placement claimed;
  Clock::Steady since{};
  bool published = false;
};

// What the kubelet has given to a bound pod.
struct GivenToPod {
  Placement chips;
  std::optional<Placement> chosen;  // other chips, which were chosen for it
};

// Annotations of a decision that was made after the binding.
struct LateAnnotations {
  Annotations annotations;
  bool asked = false;  // a request to write them is pending
  // After a definite refusal: a policy of the cluster may refuse annotations until it is changed.
  Backoff refusals{{std::chrono::seconds(1), std::chrono::seconds(256), 0}};
  Clock::Steady next{};
};

struct PodRecord {
  std::string uid;
  PodKey key;
  PodState state = PodState::absent;
  std::unique_ptr<LastEvaluation> evaluation;  // pending to uncertain: if it was evaluated
  std::unique_ptr<InFlightBinding> in_flight;  // binding, uncertain
  std::unique_ptr<Decision> decision;          // bound, annotating
  std::unique_ptr<LateAnnotations> late;       // annotating
  std::unique_ptr<Dispute> dispute;            // disputed
  std::unique_ptr<GivenToPod> given;           // once it is bound, in any state
  // pending to uncertain: at most one. It ends with its chips (Admissions::drop_second), before the
  // pod enters another state.
  std::unique_ptr<SecondSet> second;
};

class PodRecords {
 public:
  PodRecords() = default;
  PodRecords(const PodRecords&) = delete;
  PodRecords& operator=(const PodRecords&) = delete;

  // Null if there is none. Valid until the record ends.
  PodRecord* find(std::string_view uid);
  const PodRecord* find(std::string_view uid) const;
  // What readers are shown. A pod without a record asks for no chips; one that is bound to a node
  // for which the node table had no room holds none.
  PodState state_of(const ClusterPod& pod) const;
  // Null unless the pod's binding is in flight.
  PodRecord* find_in_flight(std::string_view uid);
  // The pod's binding in flight; null if there is none.
  const InFlightBinding* being_bound(std::string_view uid) const;
  // Moves the pod to the state that the event leads to, and drops the data that does not belong to
  // it. Throws std::logic_error if the event cannot happen in its state. `key` is used for a new
  // record only. Null: the record has ended. Cost: O(log pods).
  PodRecord* on(std::string_view uid, PodEvent event, const PodKey& key = {});
  void set_second(PodRecord& record, SecondSet second);
  void end_second(PodRecord& record);

  using Set = std::set<PodRecord*, bool (*)(const PodRecord*, const PodRecord*)>;
  // The pods in this state, by uid. Not kept for `bound`: most pods are.
  const Set& in(PodState state) const { return by_state_[static_cast<std::size_t>(state)]; }
  // Those with a second set, by uid.
  const Set& with_second() const { return with_second_; }
  std::size_t in_flight() const;
  // Visits the pods with a uid after `after` in uid order until visit() returns false.
  void each_after(std::string_view after, const std::function<bool(PodRecord&)>& visit) const;
  std::size_t size() const { return records_.size(); }

 private:
  static bool by_uid(const PodRecord* a, const PodRecord* b) { return a->uid < b->uid; }
  void enter(PodRecord& record, PodState state);

  std::map<std::string_view, std::unique_ptr<PodRecord>> records_;  // by the uid in it
  std::array<Set, kPodStates> by_state_{Set(by_uid), Set(by_uid), Set(by_uid),
                                        Set(by_uid), Set(by_uid), Set(by_uid),
                                        Set(by_uid), Set(by_uid), Set(by_uid)};
  Set with_second_{by_uid};
};

}  // namespace chipweave::sched
