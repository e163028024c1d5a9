// GangPlanText — the plan of a gang as the text that a ConfigMap keeps (docs/reference/
// annotations-and-labels.md):
//   {"v":1,"gang":"team/job/train","plan":"0badcafe","slots":[{"role":"worker","index":0,"chips":8,
//    "uid":"…","node":"n1","indices":[0,1,2,3,4,5,6,7]}]}
// A role that is "", an index that any pod of the role may have, a uid, a node and indices that are
// not known are left out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

// An object of the API server has at most 1 MiB by default, of which metadata takes a part. Slots
// with eight chips and node names of 20 bytes take about 145 bytes each: this is enough for 6,000
// pods, and for 2,300 with the longest node names.
inline constexpr std::size_t kMaxGangPlanBytes = 900'000;

struct GangPlanSlot {
  std::string role;
  std::optional<int> index;
  int chips = 0;
  std::string uid;
  std::string node;
  std::vector<int> indices;  // ascending

  friend bool operator==(const GangPlanSlot&, const GangPlanSlot&) = default;
};

struct GangPlanText {
  std::string gang;
  std::string plan;
  std::vector<GangPlanSlot> slots;

  friend bool operator==(const GangPlanText&, const GangPlanText&) = default;
};

// Errors: limit_exceeded (too large), invalid_argument (it could not be read again, and why).
Result<std::string> write_gang_plan(const GangPlanText& plan);
// Errors: unsupported (written by a later version), invalid_argument and limit_exceeded, naming the
// key.
Result<GangPlanText> read_gang_plan(std::string_view text);

}  // namespace chipweave::codec
