// Blanks, words and case of a foreign text. Internal to common/codec and the probes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace chipweave::codec {

// Without the blanks (line ends too) around it.
std::string_view trim(std::string_view text);
// The parts between blanks, none of them empty.
std::vector<std::string_view> split_words(std::string_view text);
// ASCII letters in lower case, other bytes as they are.
std::string lower_case(std::string_view text);

}  // namespace chipweave::codec
