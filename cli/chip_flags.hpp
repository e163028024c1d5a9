// Parses chips and links on the command line: chips "0,1,4" and "0-3,6", links "0-3" and "0-3:1".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/declared_faults.hpp"

namespace chipweave::cli {

// Chip indices of one flag, in the order given. pieces: its arguments, each a list of indices and
// ranges with commas. Empty text is an empty list. Errors name the flag: an invalid index, a
// reversed range, a duplicate chip.
Result<std::vector<int>> parse_chips(const std::string& flag,
                                     const std::vector<std::string>& pieces);

// "0-3" (all lanes) or "0-3:1" of --down.
Result<domain::DownLink> parse_down_link(const std::string& text);

}  // namespace chipweave::cli
