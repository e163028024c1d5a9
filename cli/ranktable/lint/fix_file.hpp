// What `lint --fix` does with the corrected text of a table: shows the change, or writes it after
// it kept the file as it was.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace chipweave::cli {

// A unified diff without context of two texts with the same number of lines; otherwise all lines
// are one change. "" if they are equal.
std::string line_diff(const std::string& file, std::string_view before, std::string_view after);

// Copies a file to FILE.bak, or if that exists to FILE.bak.1, FILE.bak.2, …, with its mode. Returns
// the name; "" for anything but a regular file.
Result<std::string> keep_copy(const std::string& file);

}  // namespace chipweave::cli
