// The smallest description of what changed between two states of one node.
#pragma once

#include <optional>
#include <vector>

#include "node-agent/app/node_state.hpp"

namespace chipweave::agent {

struct ChipChange {
  domain::ChipIndex chip;
  domain::Health health = domain::Health::healthy;
  friend bool operator==(const ChipChange&, const ChipChange&) = default;
};

struct LinkChange {
  domain::ChipIndex a, b;
  int lanes_down = 0;  // absolute
  friend bool operator==(const LinkChange&, const LinkChange&) = default;
};

struct Delta {
  std::vector<ChipChange> chips;
  std::vector<LinkChange> links;
  std::optional<std::vector<domain::Fault>> faults;  // all current faults, if they have changed
  std::optional<domain::CarriedPeaks> carried;       // all of it, if it has changed
  bool empty() const { return chips.empty() && links.empty() && !faults && !carried; }
};

// nullopt if more than chip health, lanes of direct links, faults and what links carry differ,
// which needs a full report.
std::optional<Delta> delta_between(const NodeState& from, const NodeState& to);

}  // namespace chipweave::agent
