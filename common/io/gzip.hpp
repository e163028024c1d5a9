// gzip — compresses and decompresses files and ConfigMap data.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace chipweave::io {

bool is_gzip(std::string_view content);
// All members of a gzip file, at most max_bytes; padding zeros after the last are ignored. Errors:
// damaged, cut off, larger (limit_exceeded).
Result<std::string> gunzip(const std::string& content, std::size_t max_bytes);
// One member without time or name: the same bytes for the same content.
Result<std::string> gzip(const std::string& content);

}  // namespace chipweave::io
