// SHA-256, for what must not be kept as it is: two texts with the same digest are the same text.
#pragma once

#include <string>
#include <string_view>

namespace chipweave::http {

// 32 bytes.
std::string sha256(std::string_view text);

}  // namespace chipweave::http
