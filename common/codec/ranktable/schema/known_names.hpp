// Names of members that are one or two slips of the finger away from a known one.
#pragma once

#include <string_view>
#include <vector>

namespace chipweave::codec::ranktable {

// The nearest of `known` within two edits (one of names below 6 characters); "" if there is none,
// if the name is a member that some rank table has, or if it is longer than 64 bytes. Cost:
// O(known x length), no allocation.
std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace chipweave::codec::ranktable
