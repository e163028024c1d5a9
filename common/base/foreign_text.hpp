// Text from outside (names, reasons), made safe to show in messages.
#pragma once

#include <string>
#include <string_view>

namespace chipweave {

// Replaces each control character, which could steer the terminal, by '?'.
std::string printable(std::string_view text);
// The same in double quotes, shortened to 120 bytes.
std::string in_quotes(std::string_view text);
// Replaces by *** what proves a caller in URLs: the segment after /callers/, and what is before the
// @ of an authority. Clients and API servers quote the URL that they could not reach.
std::string without_secrets(std::string_view text);

}  // namespace chipweave
