// JSON as Go's encoding/json writes it: `<`, `>`, `&`, U+2028 and U+2029 are escaped.
#pragma once

#include <string>
#include <string_view>

namespace chipweave::codec {

// A whole compact JSON text with Go's escapes.
std::string go_form(std::string_view json);

}  // namespace chipweave::codec
