// SHA-256, to compare secrets without storing them.
#pragma once

#include <string>
#include <string_view>

namespace chipweave::http {

// 32 bytes.
std::string sha256(std::string_view text);

}  // namespace chipweave::http
