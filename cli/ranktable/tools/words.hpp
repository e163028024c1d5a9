// What options of the rank table tools hold: lists with commas, plain numbers, and foreign text as
// a message may show it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chipweave::cli {

// "0,1" → "0", "1"; "" → "".
std::vector<std::string_view> split_commas(std::string_view text);
// `0|[1-9][0-9]*` up to `most`; nullopt otherwise.
std::optional<int> whole_number(std::string_view text, int most);

}  // namespace chipweave::cli
