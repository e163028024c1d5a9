// Base64 (RFC 4648, with padding), as Kubernetes writes bytes into text.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace chipweave::codec {

// Line breaks, as in pasted text, are ignored. invalid_argument for anything else.
Result<std::string> decode_base64(std::string_view text);
std::string encode_base64(std::string_view bytes);

}  // namespace chipweave::codec
