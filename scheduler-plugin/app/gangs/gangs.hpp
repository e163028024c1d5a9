// Gangs — when a gang is planned, and why its pods wait until then.
//
// Pods wait until as many are there as must start together. The first of them that a scheduler
// evaluates then brings the plan about: all pods get their nodes and chips at once, on the nodes
// that the scheduler offers for it, or none does. From then on each is given its own node only. If
// that is not offered (a taint, too little CPU) or its chips went, the pods concerned are planned
// again beside the others, and where that does not fit, all that are not bound.
//
// The reason that a waiting pod gets is the same text for all pods of the gang and at any time:
// with every other text kube-scheduler patches the pod, which makes it try again at once. Owner:
// the loop thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-plugin/app/gangs/gang_sessions.hpp"
#include "scheduler-plugin/app/gangs/opening/gang_nominations.hpp"
#include "scheduler-plugin/app/gangs/planning/gang_places.hpp"
#include "scheduler-plugin/app/reservations.hpp"
#include "scheduler-plugin/state/plan_store.hpp"

namespace chipweave::sched {

class Gangs : public UseCase {
 public:
  Gangs(Core& core, Reservations& reservations)
      : UseCase(core), places_(core, reservations), sessions_(core, places_), nominations_(core) {}

  // Pods that a gang waits for are reported once they have not come for so long.
  static constexpr std::chrono::minutes kOverdue{5};

  // Whether it is planned as a whole / whether the pod belongs to such a gang.
  bool plans(const Gang& gang) const { return places_.plans(gang); }
  bool plans_for(const PodRequest& pod) const { return places_.plans_for(pod); }
  // Sees to it that the pod has its place, if its gang can be planned now. nodes: those that its
  // scheduler offers. Returns why it has none yet; nullopt: it has, or needs none.
  std::optional<Verdict> find_place(const ClusterPod& pod, std::span<const std::string_view> nodes);
  // A scheduler asks for a pod that the cluster does not show yet. Why it has to wait; nullopt: it
  // belongs to no gang that is planned as a whole.
  std::optional<Verdict> refuse_unseen(const PodRequest& pod);
  // For schedulers that work in sessions.
  GangSessions& sessions() { return sessions_; }
  // Whether the pod must not be bound because its gang has no place for it.
  bool has_no_place(const PodRequest& pod) const;
  // The place that the pod has is not offered, or cannot be used any more: another one.
  std::optional<Verdict> find_another(const ClusterPod& pod,
                                      std::span<const std::string_view> nodes);

  // The pod is there, or says something else about its gang.
  void added(const ClusterPod& pod);
  // Its scheduling gates have changed.
  void gates_changed(const ClusterPod& pod);
  void gone(const PodRequest& pod);
  // What an owner object asks for; nullopt: there is none any more.
  void owner_says(const std::string& id, std::optional<GangSpec> spec);
  // Plans the gang on all nodes, for pods that no scheduler may look at yet. True: its pods have
  // places, those excepted that need not come.
  bool plan_gated(const Gang& gang);
  // Before gates of its pods are opened: these get what is reserved for them, unless that cannot be
  // used any more; then their slots hold nothing. Precondition: it has a plan.
  void assign_gated(const Gang& gang);
  bool could_fit(const Gang& gang) { return places_.planning().could_fit(gang); }
  // Gangs that may have pods with the gate, and how often gates of their pods have changed.
  const std::map<std::string, std::uint64_t, std::less<>>& gated() const { return gated_; }
  // A gate of one of its pods was opened.
  void gate_opened(const std::string& gang);
  // The gang has no gates any more.
  void opened(const std::string& gang) { gated_.erase(gang); }
  // Pods with the gate that belong to no gang, by uid.
  const std::map<std::string, PodKey, std::less<>>& strays() const { return strays_; }
  void forget_stray(const std::string& uid) { strays_.erase(uid); }
  // Where its pods are expected (GangNominations).
  GangNominations& nominations() { return nominations_; }
  // Off: pods of gangs are placed one by one, and their gates are opened at once.
  void set_on(bool on) { places_.set_on(on); }
  // Frameworks whose owner objects are watched (GangPlaces).
  void await_owners(std::vector<std::string> frameworks) {
    places_.await_owners(std::move(frameworks));
  }
  bool on() const { return places_.on(); }
  // Its pods, those excepted that end or request no chips.
  std::vector<const ClusterPod*> pods_of(const Gang& gang) const {
    return places_.planning().pods_of(gang);
  }
  // Ends reservations whose time is over; call it about every second.
  void tick();
  void step_down();
  // Where plans of earlier terms and processes are.
  void restore_from(const PlanStore& store) { places_.restored().use(store); }
  // Takes up the plans of an earlier term, once in each.
  void restore() { places_.restored().restore(); }
  GangPlanning& planning() { return places_.planning(); }
  const GangSpares& spares() const { return places_.planning().spares(); }
  // Why the gang has no plan, for people; "": it has one, or its pods are awaited.
  std::string why_not(const std::string& gang) const { return places_.planning().why_not(gang); }

 private:
  // How often a scheduler may offer a sample of the nodes without the pod's own before that counts
  // as ruled out.
  static constexpr int kMaxMissed = 8;
  static constexpr int kMaxMissedNominated = 2;
  static constexpr std::size_t kMaxUnseen = 10'000;
  struct Incomplete {
    Clock::Steady since{};
    bool reported = false;
  };
  void report_overdue();

  GangPlaces places_;
  GangSessions sessions_;
  GangNominations nominations_;
  std::map<std::string, std::uint64_t, std::less<>> gated_;  // by gang
  std::map<std::string, PodKey, std::less<>> strays_;
  std::set<std::string, std::less<>>
      unseen_;  // uids of pods that a scheduler named before they came
  std::map<std::string, Incomplete, std::less<>> incomplete_;  // by gang
  std::map<std::string, int, std::less<>> missed_;  // by uid: how often its node was not offered
};

}  // namespace chipweave::sched
