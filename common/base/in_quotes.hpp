// Foreign text within a message for people.
#pragma once

#include <string>
#include <string_view>

namespace chipweave {

// In quotes, shortened to 120 bytes; control characters, which could steer a terminal, become '?'.
std::string in_quotes(std::string_view text);

}  // namespace chipweave
