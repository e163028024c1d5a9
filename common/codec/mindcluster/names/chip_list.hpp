// "Ascend910-0,Ascend910-3": chips by the numbers in their names, as ConfigMaps and annotations of
// MindCluster list them.
//
// The separator is a comma without blanks: MindCluster's scheduler reads a list with blanks as
// empty. Blanks are accepted here, because people edit some of these lists, but never written.
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

// Ascending, each once. Errors: a name other than the prefix and a number, too many names.
Result<std::vector<int>> read_chip_list(std::string_view prefix, std::string_view text);
// Ascending, each once, whatever the order of `chips`.
std::string write_chip_list(std::string_view prefix, std::vector<int> chips);

}  // namespace chipweave::codec::mindcluster
