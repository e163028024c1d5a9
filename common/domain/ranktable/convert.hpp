// convert — a rank table in another dialect. Losses are listed; what the new dialect needs and the
// old table lacks must come from the options.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/ranktable/flatten.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::domain::ranktable {

// Inputs of some conversions.
struct ConvertOptions {
  // Server id to super pod id, for 1.2 from tables without super pods; "*": every server.
  std::map<std::string, std::string> super_pods;
  // Server id to its index in the super pod, to compute SDIDs.
  std::map<std::string, std::int64_t> server_indices;
  // vLLM: the number of ranks, from 0, that prefill; the others decode.
  std::optional<std::int64_t> prefill_devices;
  // An instance of a global table, counted from 0 in the order of the text; a group of MindIE.
  std::optional<std::int64_t> instance;
  std::optional<std::string> group;
  // ModelArts from MindIE: the group ids that prefill and that decode.
  std::vector<std::string> prefill_groups;
  std::vector<std::string> decode_groups;
};

struct Converted {
  std::vector<RankTable> tables;    // several only for the local tables of a global one
  std::vector<std::string> losses;  // what the new dialect cannot express, each kind once
};

// Errors: unsupported if there is no such conversion; invalid_argument naming what is missing and
// the flag for it.
Result<Converted> convert(const RankTable& table, Dialect to, const ConvertOptions& options);

// A host and its ranks.
struct RankedHost {
  std::string name;
  std::vector<std::pair<std::int64_t, std::int64_t>> ranks;  // rank, device id; ascending
};
// Hosts by their first rank. Errors: missing ranks, a host without a name.
Result<std::vector<RankedHost>> ranked_hosts(const RankTable& table, const JobChoice& choice = {});

}  // namespace chipweave::domain::ranktable
