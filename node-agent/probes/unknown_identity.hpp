// For Ascend chips whose physical ids the probe cannot know. The device plugin, hccn_tool and rank
// tables name chips by them, so no pod may get a chip that is numbered otherwise.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "common/domain/observation.hpp"

namespace chipweave::agent {

// Adds the state "ascend.identity-unknown" of that chip, or of the whole machine, which gets the
// fact "identity" = "unknown", too. text: the reason, and what the operator can do.
inline void add_unknown_identity(domain::Observation& out, std::optional<domain::ChipIndex> chip,
                                 std::string text) {
  domain::Signal signal;
  signal.code = "ascend.identity-unknown";
  signal.chip = chip;
  signal.text = std::move(text);
  out.signals.push_back(std::move(signal));
  if (!chip) out.facts["identity"] = "unknown";
}

// The reason where the driver's library was not used.
inline constexpr const char* kNoDriverIdentity =
    "the physical ids of these NPUs are unknown without the driver's library: run the agent as "
    "root with the driver mounted, or set --probe profile:NAME or file:PATH";

}  // namespace chipweave::agent
