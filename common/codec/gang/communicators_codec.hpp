// The key `communicators` of requests of `plan` and `rank`, and what an order of ranks costs for
// them in the answers. Internal to common/codec.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/json_writer.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/domain/communicators.hpp"

namespace chipweave::codec {

// Parallel sizes, or `groups`, or just a list, which means groups. ranks_per_pod: 0 where the
// request does not say. Adds problems.
domain::Communicators read_communicators(JsonValue value, JsonProblems& problems);

// {"leaf":2,…}; values may be fewer than levels.
template <class Number>
void write_by_level(JsonWriter& out, std::string_view key, const std::vector<std::string>& levels,
                    const std::vector<Number>& values) {
  out.key(key).begin_object();
  for (std::size_t i = 0; i < values.size(); ++i) out.field(levels[i], values[i]);
  out.end_object();
}

// The key `communicators` of an answer: by name and level, the pairs of ranks that exchange data
// across domains.
void write_crossings(JsonWriter& out, const std::vector<std::string>& names,
                     const std::vector<std::string>& levels,
                     const std::vector<std::vector<std::int64_t>>& crossings);

}  // namespace chipweave::codec
