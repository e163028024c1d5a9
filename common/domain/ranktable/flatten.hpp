// flatten — the servers of one job with a global rank for every device, from any dialect that
// knows them: what conversions and rank orders start from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::domain::ranktable {

// Which job of a table that describes several.
struct JobChoice {
  std::optional<std::int64_t> instance;  // of a ModelArts table, from 0 in the order of the text
  std::optional<std::string> group;      // of a MindIE table
};

struct FlatJob {
  std::vector<Server> servers;      // one entry a host; devices ascending by rank
  std::vector<std::string> losses;  // what of the dialect is not in it
};

// Ranks: as given; of the cloud's template by server_id as text, then device_id; of vLLM's table by
// position. Error: a table of several jobs without a choice, ranks that are missing or repeated, a
// dialect without hosts (2.0) or ranks (LLM-DataDist).
Result<FlatJob> flatten(const RankTable& table, const JobChoice& choice);

}  // namespace chipweave::domain::ranktable
