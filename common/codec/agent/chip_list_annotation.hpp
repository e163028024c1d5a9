// The value of an annotation in which operators list chips of a node: "3,5", "*" for all of them,
// "" for none.
//
// Strict: a value with one invalid part is rejected as a whole, because half a list is not what the
// operator wanted.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::codec {

inline constexpr std::size_t kMaxChipListBytes = 1024;

struct ChipSelection {
  bool all = false;
  std::vector<domain::ChipIndex> chips;  // ascending, each once; empty with `all`

  bool none() const { return !all && chips.empty(); }
  friend bool operator==(const ChipSelection&, const ChipSelection&) = default;
};

// Blanks around a number are accepted. The caller checks whether the machine has these chips.
// Errors name the annotation: invalid_argument, limit_exceeded.
Result<ChipSelection> parse_chip_selection(std::string_view annotation, std::string_view text);

}  // namespace chipweave::codec
