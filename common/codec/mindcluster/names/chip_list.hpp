// "Ascend910-0,Ascend910-3": chips by the numbers in their names, as ConfigMaps and annotations of
// MindCluster list them.
//
// The separator is a bare comma: MindCluster's scheduler takes a list with blanks for an empty one.
// Blanks are accepted here, because people edit some of these lists, and never written.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec::mindcluster {

inline constexpr std::size_t kMaxListedChips = 1024;

// prefix: "Ascend910".
std::string chip_name(std::string_view prefix, int chip);
std::optional<int> chip_of_name(std::string_view prefix, std::string_view name);

// Ascending, each once. Errors: a name that is not of that prefix with a number, too many.
Result<std::vector<int>> read_chip_list(std::string_view prefix, std::string_view text);
// Ascending, each once, whatever the order of `chips`.
std::string write_chip_list(std::string_view prefix, std::vector<int> chips);

}  // namespace chipweave::codec::mindcluster
