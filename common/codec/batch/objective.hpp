// The key `objective` of requests.
#pragma once

#include "common/codec/json/json_object.hpp"
#include "common/domain/objective.hpp"

namespace chipweave::codec {

// Bandwidth if it is absent or, with a problem noted, wrong.
inline domain::Objective read_objective(const JsonObject& object) {
  const auto text = object.text("objective");
  if (!text) return domain::Objective::bandwidth;
  const auto objective = domain::parse_objective(*text);
  if (!objective) object.problem("objective", "must be bandwidth, latency or all_to_all");
  return objective.value_or(domain::Objective::bandwidth);
}

}  // namespace chipweave::codec
