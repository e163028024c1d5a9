// FaultEvictions — ends bound pods of gangs whose node or chip has failed, where their label
// fault-scheduling asks for it, so that their controller makes them again beside the others.
//
// Only once the failure has lasted for kLasts, so that a node that comes back at once ends nothing,
// and each pod once. A node has failed when Kubernetes says that it is not ready: an agent that
// does not report proves nothing about its pods. Chips that operators took out of service have not
// failed. Off until it has a way to evict. Owner: the loop thread.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "common/base/clock.hpp"
#include "scheduler-plugin/app/use_case.hpp"
#include "scheduler-plugin/state/evictions.hpp"

namespace chipweave::sched {

class FaultEvictions : public UseCase {
 public:
  static constexpr std::chrono::seconds kLasts{30};
  // After an eviction that was not accepted, for example because of a budget.
  static constexpr std::chrono::seconds kRetry{30};

  explicit FaultEvictions(Core& core) : UseCase(core) {}

  void use(Evictions& evictions) { evictions_ = &evictions; }
  // Call it about every second. Cost: O(pods) of the gangs with such labels.
  void check();
  void step_down() { failing_.clear(); }

 private:
  struct Failing {
    Clock::Steady since{};
    Clock::Steady next{};  // not before
    bool asked = false;
    bool ended = false;  // the API server has accepted it
    bool seen = false;   // in this check()
  };
  // What has failed, for people; "": nothing.
  std::string why_failed(const ClusterPod& pod) const;
  ChipSet failed_chips(const Holding& held) const;
  void see(const ClusterPod& pod, const Gang& gang);
  void end(const ClusterPod& pod, const Gang& gang, std::string why);

  Evictions* evictions_ = nullptr;
  std::map<std::string, Failing, std::less<>> failing_;  // by uid
};

}  // namespace chipweave::sched
