// canonical — the text of which a table's hash is taken: members sorted by name, no white space,
// one way to escape. HCCL compares such a checksum between ranks: layout and order of members do
// not matter, values and the order of lists do.
#pragma once

#include <string>

#include "common/codec/json/json_tree.hpp"

namespace chipweave::codec::ranktable {

// Members that are given twice stand one behind the other. Cost: linear, and the sorts.
std::string canonical(const JsonTree& tree, JsonTree::Id id);

}  // namespace chipweave::codec::ranktable
