// The CheckCode that MindCluster adds to its documents.
//
// A reader in Go decodes the covered value, encodes it again and compares the SHA-256 of the result
// with the CheckCode, so every byte matters: go_form(), no blanks, map keys in ascending byte
// order.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace chipweave::codec::mindcluster {

// The 32 bytes of SHA-256. Codecs have no cryptography of their own: the caller passes the
// function of the program's library.
using Digest = std::function<std::string(std::string_view)>;

// 64 lower-case hex digits.
std::string check_code(std::string_view form, const Digest& sha256);

}  // namespace chipweave::codec::mindcluster
