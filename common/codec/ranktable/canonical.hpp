// canonical — the text whose hash identifies a table: members sorted by name, no white space, one
// form of escapes. As in the checksum that HCCL compares between ranks, layout and order of members
// do not matter; values and the order of lists do.
#pragma once

#include <string>

#include "common/codec/json/json_tree.hpp"

namespace chipweave::codec::ranktable {

// Repeated members stay in their order. Cost: linear, and the sorts.
std::string canonical(const JsonTree& tree, JsonTree::Id id);

}  // namespace chipweave::codec::ranktable
