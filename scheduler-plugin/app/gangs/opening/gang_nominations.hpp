// GangNominations — tells kube-scheduler on which nodes the pods of planned gangs are expected
// (status.nominatedNodeName).
//
// kube-scheduler then asks about that node first, and about no other if the pod fits there. So it
// does not matter that it looks at a part of a large cluster only (percentageOfNodesToScore), and a
// pod costs it one node instead of hundreds. It also keeps the pod's CPU and memory there from
// pods of the same or a lower priority. When a pod fits nowhere it removes the node's name;
// then the scheduler sets it again, at a limited rate. Owner: the loop thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "common/base/backoff.hpp"
#include "scheduler-plugin/app/use_case.hpp"

namespace chipweave::sched {

class GangNominations : public UseCase {
 public:
  static constexpr std::size_t kMaxAsked = 64;        // requests at a time
  static constexpr std::chrono::minutes kSilence{5};  // after the API server has forbidden it

  explicit GangNominations(Core& core) : UseCase(core) {}

  void set_on(bool on) { on_ = on; }
  // Tells what has changed, of pods that are not gated; call it several times a second. Cost: O(1)
  // for a plan that has not changed.
  void check();
  // Tells where the pod is expected; then calls `then`, whether that succeeded or not.
  void tell(const ClusterPod& pod, const std::string& node, std::function<void()> then);
  // The cluster reports another node for a waiting pod, or none.
  void nominated(const ClusterPod& pod);
  // The pod is bound or gone.
  void waits_no_more(std::string_view uid);
  void step_down();

 private:
  struct Told {
    bool asked = false;
    Clock::Steady next{};  // not before
    Backoff pauses{{std::chrono::seconds(1), std::chrono::seconds(60), 0}};
  };
  bool silent() const { return !on_ || clock_.now() < silent_until_; }
  void find_changes();
  // False if it has to be tried again later.
  bool tell(const std::string& uid);
  void go_on();
  void answered(const std::string& uid, const Result<void>& result);

  bool on_ = true;
  Clock::Steady silent_until_{};
  std::map<std::string, std::uint64_t, std::less<>> seen_;  // by gang: the version of its plan
  std::set<std::string, std::less<>> due_;                  // uids of pods to look at
  std::map<std::string, Told, std::less<>> told_;           // by uid
  std::size_t asked_ = 0;
  bool going_on_ = false;
};

}  // namespace chipweave::sched
