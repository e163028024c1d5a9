// HealthJudge — turns signals and links into faults by applying the health policy over time.
//
// A cause raises a fault at once; where the rule has `after`, the fault is a note until the cause
// has been present for so long, and nothing is held of one that ends before. When the cause ends,
// the fault is held: for the rule's time, longer each time for a flapping cause, or until a reset.
// So a part is not trusted again the moment it looks healthy, and a flapping link does not flap in
// decisions. Pure but for the clock that is passed in; one owner. observe() is O(signals), judge()
// O(faults).
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

  // Takes the newest observation. A state or reading that is missing from it has ended.
  void observe(const domain::Observation& seen);
  // Takes events, those of the time before the next observation. Of several at once, a reset counts
  // as the first: whether an error came before or after it is not known.
  void occurred(const std::vector<domain::Signal>& events);
  // What keeps the machine from being observed; nullopt: nothing. since: of the trouble, whatever
  // codes it had meanwhile; `after` counts from there.
  struct Trouble {
    std::string code;
    std::string text;
    Clock::Steady since;
  };
  void trouble(const std::optional<Trouble>& trouble);
  // The current faults: worst first, then by chip, peer, port, part and code.
  std::vector<domain::Fault> judge();

  // Restores the faults of a previous run in the same boot of the node: what was held is held for
  // the rest of its time, and what was present is held as if it had just ended. Faults that the
  // policy does not hold are not restored.
  void restore(const std::vector<domain::Fault>& faults);
  // After a time in which nothing was observed: what counters rose by meanwhile does not count.
  void resume();
  // Chips that are called differently from now on.
  void rename(const std::map<domain::ChipIndex, domain::ChipIndex>& chips);
  // Ends holds of that chip (absent: all, and the memory of faults that were too many). A fault
  // whose cause is still present stays.
  void clear(std::optional<domain::ChipIndex> chip);

 private:
  using Seconds = std::chrono::duration<double>;
  using Key = std::tuple<std::string, int, int, int, std::string>;  // code, chip, peer, port, part

  struct Record {
    domain::Fault fault;
    const domain::HealthRule* rule = nullptr;
    bool stated = false;          // in the newest observation, as a state or a reading
    bool of_trouble = false;      // it is not observed
    int level = 0;                // current strength of the cause: 1, or lanes that are down
    Clock::Steady level_since{};  // level > 0 since then
    int held = 0;                 // the effective level; 0: no fault, or an early one
    bool noted = false;           // visible: fault.since is known
    Clock::Steady lower_since{};  // held > level since then
    std::int64_t held_until = 0;  // Unix time in ms, once computed
    std::optional<Clock::Steady> recovered;
    int flaps = 0;
    std::optional<CounterWindow> counter;
  };

  static Key key_of(const domain::Fault& fault);

  static constexpr std::size_t kMaxRecords = 32'768;

  const domain::HealthRule& rule_of(const std::string& code);
  // Null if there are too many, which is a fault of the machine from then on.
  Record* record(const domain::Fault& fault, const domain::HealthRule& rule);
  void lose(const domain::Fault& fault);
  void restore(const domain::Fault& fault, const domain::HealthRule& rule);
  void see(const domain::Signal& signal);
  void see_links(const domain::NodeTopology& topology);
  void see_link(domain::Fault fault, int lanes);
  void reset(std::optional<domain::ChipIndex> chip);
  void occur(Record& record);
  void settle(Record& record);
  // Raises, holds or ends the fault by its level.
  void apply(Record& record);
  // The fault is visible from now on, if it was not.
  void note(Record& record) const;
  // Whether there is a cause whose effect does not apply yet.
  bool is_early(const Record& record) const;
  void forget();
  Seconds hold_of(const Record& record) const;
  std::int64_t held_until(Record& record) const;

  domain::HealthPolicy policy_;
  domain::HealthRule link_rule_;
  domain::HealthRule other_rule_;  // for codes without a rule
  const Clock& clock_;
  std::unordered_map<std::string, const domain::HealthRule*> rules_;  // by code, cached
  std::map<Key, Record> records_;
  std::optional<domain::Fault> too_many_;  // faults without a record were reported
};

}  // namespace chipweave::agent
