// Foreign text (names, reasons) within what people read.
#pragma once

#include <string>
#include <string_view>

namespace chipweave {

// Without control characters, which could otherwise steer the terminal: each becomes '?'.
std::string printable(std::string_view text);
// The same in quotes, shortened to 120 bytes.
std::string in_quotes(std::string_view text);

}  // namespace chipweave
