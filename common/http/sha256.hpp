// SHA-256, to compare secrets without storing them.
#pragma once

#include <string>
#include <string_view>

namespace chipweave::http {

// 32 bytes.
std::string sha256(std::string_view text);
// Whether two digests are equal, in a time that does not depend on where they differ.
bool same_digest(std::string_view a, std::string_view b);

}  // namespace chipweave::http
