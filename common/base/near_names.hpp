// near_names — "did you mean …": the known names closest to a mistyped one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace chipweave {

// Levenshtein distance, case ignored. Cost: O(length^2).
std::size_t edit_distance(std::string_view a, std::string_view b);

// Known names within a small edit distance of `typed` (case ignored), nearest first, at most
// `most`; a name that starts with the whole of what was typed counts as near. Cost: O(known x
// length^2), lengths capped at 64.
std::vector<std::string_view> near_names(std::string_view typed,
                                         const std::vector<std::string_view>& known,
                                         std::size_t most = 3);

// " (did you mean \"a\" or \"b\"?)" or "" when nothing is near.
std::string did_you_mean(std::string_view typed, const std::vector<std::string_view>& known);

// For an error: unknown format "csw" (did you mean "csv"?); known: csv, json
std::string unknown_name(std::string_view what, std::string_view typed,
                         const std::vector<std::string_view>& known);

}  // namespace chipweave
