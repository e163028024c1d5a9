// JSON as Go's encoding/json writes it, and the CheckCode that MindCluster adds to it.
//
// A reader in Go decodes the covered value, encodes it again and compares the SHA-256 of the result
// with the CheckCode, so every byte matters: no blanks, map keys in ascending byte order, and `<`,
// `>`, `&`, U+2028 and U+2029 escaped.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace chipweave::codec::mindcluster {

// The 32 bytes of SHA-256. Codecs have no cryptography of their own: the caller passes the
// function of the program's library.
using Digest = std::function<std::string(std::string_view)>;

// A whole compact JSON text with Go's escapes.
std::string go_form(std::string_view json);

// 64 lower-case hex digits.
std::string check_code(std::string_view form, const Digest& sha256);

}  // namespace chipweave::codec::mindcluster
