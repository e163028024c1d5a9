// HealthPolicy — the effects of signals: which make a chip or a link unusable, from when on, and
// until when.
//
// Read from a file (common/codec/agent/health_policy.hpp, which explains each key) and applied by
// the agent (node-agent/app/health). Durations are in seconds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace chipweave::domain {

// Mildest first.
enum class Effect {
  note,      // reported only
  link,      // the port's lane is down, without a port all links of the chip, or the NIC
  network,   // the chip is not given to pods of multi-pod jobs
  unusable,  // the chip is not allocated
};
// "note", "link", "network", "unusable".
std::string_view to_string(Effect effect);

enum class Recovery {
  quiet,  // once the cause has been absent for `hold`
  reset,  // after a chip reset, a reboot, or by an operator
};

struct HealthRule {
  std::string code;  // pattern of signal codes; '*' matches any characters
  Effect effect = Effect::note;
  // A counter is a cause while it has risen by at least `rise` within the last `window`; a reading
  // while it is at least `at_least`; a state while it holds; an event when it happens.
  double rise = 1;
  double window = 60;
  double at_least = 0;
  // The effect applies once the cause has been present for so long; until then the fault is a note.
  // Not of events, whose cause ends at once.
  double after = 0;
  Recovery recovery = Recovery::quiet;
  double hold = 10;
};

// Whether the rule applies to signals of that code. Linear unless the pattern has several stars.
bool matches(const HealthRule& rule, std::string_view code);

struct HealthPolicy {
  std::vector<HealthRule> rules;  // the first match applies; no match: a note
  // A link or NIC is used again after it has been up for so long.
  double link_hold = 10;
  // What fails again within `flap_window` after its recovery is held twice as long each time, at
  // most `longest_hold`.
  double flap_window = 600;
  double longest_hold = 600;
};

}  // namespace chipweave::domain
