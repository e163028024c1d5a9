// GateOpener — opens the scheduling gates of pods: tells kube-scheduler where each is expected,
// then removes its gate, a limited number at a time.
//
// Pods of schedulers that never ask chipweave are pinned to their nodes instead. That cannot be
// taken back: if the node goes before the pod is bound, the pod has to be deleted. Owner: the
// loop thread.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "common/base/backoff.hpp"
#include "scheduler-plugin/app/gangs/opening/gang_nominations.hpp"

namespace chipweave::sched {

class GateOpener : public UseCase {
 public:
  static constexpr std::size_t kMaxAsked = 64;  // requests at a time

  // done: the outcome for a pod of this gang (may be empty), which may have been opened or not.
  GateOpener(Core& core, GangNominations& nominations,
             std::function<void(const std::string& gang)> done)
      : UseCase(core), nominations_(nominations), done_(std::move(done)) {}

  // spec.schedulerName of the pods that are pinned.
  void set_pinned(std::set<std::string> schedulers) { pinned_ = std::move(schedulers); }
  // The gate of the pod is to be opened, with its place in the plan of the gang; `unplanned`:
  // whether it has one or not. False: not now, because it was refused a moment ago.
  bool open(const ClusterPod& pod, const std::string& gang, bool unplanned);
  // Forgets what is not in flight.
  void step_down();
  // Forgets refusals of pods that are gone.
  void forget_gone();

 private:
  struct Due {
    PodKey key;
    std::string uid;
    std::string gang;
    bool unplanned = false;
  };
  struct Opening {
    bool queued = false;
    bool asked = false;
    PodKey key;
    Clock::Steady next{};  // not before
    Backoff refusals{{std::chrono::milliseconds(200), std::chrono::seconds(30), 0}};
  };

  void go_on();
  void begin(const Due& due);
  void ungate(const Due& due);
  void opened(const Due& due, const Result<void>& result);
  void end(const Due& due);
  // Null: it is gone, or has no gate of ours only.
  const ClusterPod* waiting(const Due& due) const;
  const Holding* place_of(const Due& due) const;

  GangNominations& nominations_;
  std::function<void(const std::string&)> done_;
  std::set<std::string> pinned_;
  std::deque<Due> due_;
  std::map<std::string, Opening, std::less<>> openings_;  // by uid
  std::size_t asked_ = 0;
  bool going_on_ = false;
};

}  // namespace chipweave::sched
