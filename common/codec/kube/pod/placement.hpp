// Reads the annotation chipweave.dev/placement of a bound pod: the chips that it has.
// (scheduler-plugin/app/annotations.cpp writes it.)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

struct PlacementChip {
  int index = 0;
  std::string id;         // as its vendor names it; empty: not given
  std::string container;  // that gets it; empty: the only one with chips, or an init container
  friend bool operator==(const PlacementChip&, const PlacementChip&) = default;
};

struct PlacementNote {
  std::string node;
  std::string pod_uid;
  std::string resource;
  std::vector<int> chips;              // vendor indices, ascending, each once
  std::vector<PlacementChip> details;  // the same chips in the same order
  double gbps = 0;
  std::string decision;
  std::int64_t time = 0;  // seconds since 1970; 0: not given
};

// Errors: invalid_argument (not JSON of this form, a chip listed twice), unsupported (another
// version). Unknown keys are skipped.
Result<PlacementNote> read_placement(std::string_view json);

}  // namespace chipweave::codec
