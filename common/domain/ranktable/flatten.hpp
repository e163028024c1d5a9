// flatten — the servers of one job with a global rank for every device, from any dialect that has
// them. Conversions and rank orders start from this.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::domain::ranktable {

// Selects a job in a table that describes several.
struct JobChoice {
  std::optional<std::int64_t> instance;  // of a ModelArts table, from 0 in the order of the text
  std::optional<std::string> group;      // of a MindIE table
};

struct FlatJob {
  std::vector<Server> servers;      // one for each host; devices ascending by rank
  std::vector<std::string> losses;  // what is not taken over from the dialect
};

// Ranks: as given; for the cloud template by server_id as text, then device_id; for vLLM by
// position. Errors: several jobs without a choice, missing or repeated ranks, a dialect without
// hosts (2.0) or ranks (LLM-DataDist).
Result<FlatJob> flatten(const RankTable& table, const JobChoice& choice);

}  // namespace chipweave::domain::ranktable
