// convert — a rank table in another dialect: what is lost is listed, what would have to be invented
// is refused.
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

// What some conversions must be told.
struct ConvertOptions {
  // Server id to super pod id, for 1.2 from tables without; "*" stands for every server.
  std::map<std::string, std::string> super_pods;
  // Server id to its index in the super pod, where SDIDs are to be computed.
  std::map<std::string, std::int64_t> server_indices;
  // vLLM: how many devices, from the first rank on, prefill; the others decode.
  std::optional<std::int64_t> prefill_devices;
  // Which instance of a global table, from 0 in the order of the text; which group of MindIE's.
  std::optional<std::int64_t> instance;
  std::optional<std::string> group;
  // MindIE's group ids that prefill, and that decode (ModelArts from MindIE).
  std::vector<std::string> prefill_groups;
  std::vector<std::string> decode_groups;
};

struct Converted {
  std::vector<RankTable> tables;    // one, but for the local tables of a global one
  std::vector<std::string> losses;  // what the new dialect cannot say, each kind once
};

// Errors: unsupported where there is no way at all; invalid_argument naming what is missing and the
// flag that says it.
Result<Converted> convert(const RankTable& table, Dialect to, const ConvertOptions& options);

// The ranks as a list of hosts, in the order of ranks.
struct RankedHost {
  std::string name;
  std::vector<std::pair<std::int64_t, std::int64_t>> ranks;  // rank, device id; ascending
};
// Hosts by their first rank. Error where ranks are missing, or a host has no name.
Result<std::vector<RankedHost>> ranked_hosts(const RankTable& table, const JobChoice& choice = {});

}  // namespace chipweave::domain::ranktable
