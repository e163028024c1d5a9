// HealthPolicy — what follows from the signals of a machine: which make a chip or a link unusable,
// from when on, and when it is trusted again.
//
// Read from a file (common/codec/agent/health_policy.hpp), where each key is explained; carried out
// by the agent (node-agent/app/health). Durations are seconds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace chipweave::domain {

// Mildest first.
enum class Effect {
  note,      // told to people, nothing else
  link,      // that port's lane is down, all links of a chip without one, or that NIC is not there
  network,   // the chip is of no use to a pod that is one of several
  unusable,  // the chip is not given to anybody
};
// "note", "link", "network", "unusable".
std::string_view to_string(Effect effect);

enum class Recovery {
  quiet,  // when the cause has been absent for `hold`
  reset,  // when the chip was reset, the node booted, or somebody says so
};

struct HealthRule {
  std::string code;  // of the signals that it is for; '*' stands for any characters
  Effect effect = Effect::note;
  // A counter is a cause while it has risen by at least `rise` within the last `window`, a reading
  // while it is at least `at_least`. States are causes while they hold, events when they happen.
  double rise = 1;
  double window = 60;
  double at_least = 0;
  Recovery recovery = Recovery::quiet;
  double hold = 10;
};

// Whether the rule is for signals of that code. O(length of both) but for several stars.
bool matches(const HealthRule& rule, std::string_view code);

struct HealthPolicy {
  std::vector<HealthRule> rules;  // the first that matches; none: a note
  // A link or NIC that comes up is used again after it has been up that long.
  double link_hold = 10;
  // Whoever fails again within `flap_window` after its recovery is held twice as long each time, at
  // most `longest_hold`.
  double flap_window = 600;
  double longest_hold = 600;
};

}  // namespace chipweave::domain
