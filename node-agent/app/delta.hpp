// What changed between two states of one node, as small as it can be said.
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
  std::optional<std::vector<domain::Fault>> faults;  // all that there are now, if others than were
  bool empty() const { return chips.empty() && links.empty() && !faults; }
};

// nullopt when more than chip health, lanes of direct links and faults differ: only a full report
// can say that.
std::optional<Delta> delta_between(const NodeState& from, const NodeState& to);

}  // namespace chipweave::agent
