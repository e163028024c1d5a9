// VictimEvictions — asks the API server to evict the victims of one gang, so many at a time, and
// again after pauses where budgets do not allow it. Owner: the loop thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/backoff.hpp"
#include "scheduler-plugin/app/gangs/preemption/kept_chips.hpp"
#include "scheduler-plugin/app/gangs/preemption/victim_units.hpp"
#include "scheduler-plugin/state/evictions.hpp"

namespace chipweave::sched {

class VictimEvictions : public UseCase {
 public:
  static constexpr std::size_t kMaxEvicting = 16;  // requests at a time

  VictimEvictions(Core& core, const VictimUnits& units) : UseCase(core), units_(units) {}

  void use(Evictions& evictions) { evictions_ = &evictions; }
  // Of these pods, those that do not end yet. for_gang: "namespace/name". Precondition:
  // is_settled().
  void begin(std::string for_gang, const std::vector<const VictimUnit*>& units);
  // Call it several times a second.
  void go_on();
  // Whether no request waits for its answer, and every pod whose eviction was accepted ends.
  bool is_settled() const;
  // Why the API server will never evict one of them; "": it may.
  const std::string& refused() const { return refused_; }
  // An eviction that is accepted later is still reported.
  void end();

  std::size_t pods() const { return victims_.size(); }
  // That they end for the gang.
  GangPreempting announced_for(GangRef gang) const;
  // Whether all of these chips come free with them, or with other pods that end.
  bool frees(const KeptChips::ByNode& chips) const;
  // Those that hold chips, and their gangs.
  struct Left {
    std::set<std::string_view> pods;  // uids
    std::set<std::string> gangs;
  };
  Left left() const;

 private:
  struct Victim {
    VictimPod pod;
    std::optional<GangRef> gang;  // VictimUnit::gang
    bool evicted = false;         // the API server has accepted it
    bool asked = false;
    Clock::Steady next{};  // not before
    Backoff refusals{{std::chrono::seconds(1), std::chrono::seconds(30), 0}};
  };
  // What reports need after end(), too: a pod may be gone before its eviction is answered.
  struct Round {
    std::string for_gang;
    std::map<std::string, std::size_t> pods;  // by gang that ends
    std::set<std::string> reported;           // gangs of which pods end
  };
  void evict(Victim& victim);
  void evicted(const Round* round, const std::string& uid, const Result<void>& result);
  void report_end(Round& round, const PodKey& pod, const std::string& uid,
                  const std::optional<GangRef>& gang);

  const VictimUnits& units_;
  Evictions* evictions_ = nullptr;
  std::shared_ptr<Round> round_;  // null: between end() and begin()
  std::vector<Victim> victims_;
  std::set<std::string, std::less<>> uids_;
  std::size_t asked_ = 0;
  std::string refused_;
};

}  // namespace chipweave::sched
