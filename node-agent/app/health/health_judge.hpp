// HealthJudge — from what a probe says to what is wrong: applies the health policy to signals and
// links, over time.
//
// A cause makes a fault at once. When the cause is gone, the fault is held: for the rule's time,
// longer each time for what flaps, or until a reset. So nothing is trusted again the moment it
// looks well, and a link that comes and goes does not come and go in decisions.
// Pure but for the clock that is passed in; one owner. observe() is O(signals), judge() O(faults).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "common/base/clock.hpp"
#include "common/domain/fault.hpp"
#include "common/domain/health_policy.hpp"
#include "common/domain/observation.hpp"
#include "node-agent/app/health/counter_window.hpp"

namespace chipweave::agent {

class HealthJudge {
 public:
  HealthJudge(domain::HealthPolicy policy, const Clock& clock);

  // The newest observation; what it does not say any more is over from now on.
  void observe(const domain::Observation& seen);
  // The faults of this moment: worst first, then by chip, peer, port, part and code.
  std::vector<domain::Fault> judge();

  // What follows from a signal of that code.
  domain::Effect effect_of(const std::string& code) { return rule_of(code).effect; }

  // Faults of an earlier run that are held until a reset; others are left out.
  void restore(const std::vector<domain::Fault>& faults);
  // Ends what is held of that chip (absent: of everything). What still has its cause stays.
  void clear(std::optional<domain::ChipIndex> chip);

 private:
  using Seconds = std::chrono::duration<double>;
  using Key = std::tuple<std::string, int, int, int, std::string>;  // code, chip, peer, port, part

  struct Record {
    domain::Fault fault;
    const domain::HealthRule* rule = nullptr;
    bool stated = false;          // by the newest observation, as a state or a reading
    int level = 0;                // of the cause, now: 1, or lanes that are down
    int held = 0;                 // the level that counts; 0: no fault
    Clock::Steady lower_since{};  // held > level since then
    std::int64_t held_until = 0;  // Unix time in ms, once it was asked for
    std::optional<Clock::Steady> recovered;
    int flaps = 0;
    std::optional<CounterWindow> counter;
  };

  static constexpr std::size_t kMostRecords = 32'768;

  const domain::HealthRule& rule_of(const std::string& code);
  // Null when there are too many.
  Record* record(const domain::Fault& fault, const domain::HealthRule& rule);
  void see(const domain::Signal& signal);
  void see_links(const domain::NodeTopology& topology);
  void see_link(domain::Fault fault, int lanes);
  void reset(std::optional<domain::ChipIndex> chip);
  void occur(Record& record);
  void settle(Record& record);
  void forget();
  Seconds hold_of(const Record& record) const;
  std::int64_t held_until(Record& record) const;

  domain::HealthPolicy policy_;
  domain::HealthRule link_rule_;
  domain::HealthRule other_rule_;  // of codes that no rule names
  const Clock& clock_;
  std::unordered_map<std::string, const domain::HealthRule*> rules_;  // by code, as found
  std::map<Key, Record> records_;
};

}  // namespace chipweave::agent
