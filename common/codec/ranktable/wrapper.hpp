// Rank tables that lie inside something else: a ConfigMap's data, a member ranktable.
//
// Internal to common/codec/ranktable and to the commands.
#pragma once

#include <string>

#include "common/codec/json/json_tree.hpp"

namespace chipweave::codec::ranktable {

// The pointer of the first rank table inside `object`, up to three levels deep; a string member
// counts if its text is a rank table as JSON. "" if there is none. Cost: linear.
std::string find_wrapped(const JsonTree& tree, JsonTree::Id object);

}  // namespace chipweave::codec::ranktable
