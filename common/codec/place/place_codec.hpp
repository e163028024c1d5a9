// The batch lines of `chipweave place`: one JSON object per request, one per answer
// (docs/reference/cli.md).
//
// Strict: an unknown or repeated key, a wrong type or a chip that is named twice is an error that
// names the key. Whether the chips exist is checked later, against the machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/batch/batch.hpp"
#include "common/domain/declared_faults.hpp"
#include "common/domain/objective.hpp"

namespace chipweave::codec {

struct PlaceRequest {
  std::string machine;         // profile name or path; empty when inline
  std::string inline_machine;  // JSON text of an inline topology; empty when named
  std::optional<std::vector<int>> free;
  std::vector<int> unhealthy;
  std::vector<int> network_unhealthy;
  std::vector<domain::DownLink> down_links;
  std::vector<int> required;
  std::vector<int> beside;
  std::vector<int> loaded;  // of other jobs
  std::optional<int> size;
  std::optional<std::vector<int>> chips;  // evaluate exactly this set
  bool distributed = false;
  domain::Objective objective = domain::Objective::bandwidth;
};

struct PlaceAnswer {
  bool fits = false;
  std::vector<int> chips;
  double gbps = 0;       // GB/s
  double best_gbps = 0;  // GB/s
  std::string reason;
  std::optional<double> bound;  // when the answer is not proven best: GB/s that no set can beat
  // What the machine's import assumed or left out, and what of the request had no effect.
  std::vector<std::string> warnings;
  std::optional<double> all_to_all_gbps = std::nullopt;  // for that objective
  std::optional<int> hops = std::nullopt;                // for latency: of the farthest pair
};

using PlaceLine = BatchRequest<PlaceRequest>;
PlaceLine parse_place_line(std::string_view line);

// One line without newline. more: further members, as JSON text.
std::string write_place_answer(const std::string& id, const PlaceAnswer& answer,
                               std::string_view more = {});

}  // namespace chipweave::codec
