// canonical — the text whose hash identifies a table: members sorted by name, no white space, one
// form of escapes. As in the checksum that HCCL compares between ranks, layout and order of members
// do not matter; values and the order of lists do.
#pragma once

#include <optional>
#include <string>

#include "common/codec/json/json_tree.hpp"
#include "common/codec/json/json_value.hpp"

namespace chipweave::codec::ranktable {

// Repeated members stay in their order. Cost: linear, and the sorts.
std::string canonical(const JsonTree& tree, JsonTree::Id id);

// A place at which two tables have different canonical texts.
struct Mismatch {
  std::string pointer;  // from the table; "": the table itself
  bool order = false;   // a list has the same elements in another order
  std::string a, b;     // canonical; of a list in another order the first elements that differ, of
                        // a missing member ""
};
// The first of them by member names; nullopt: none. Cost: canonical() for each level of nesting.
std::optional<Mismatch> first_mismatch(JsonValue a, JsonValue b);

}  // namespace chipweave::codec::ranktable
