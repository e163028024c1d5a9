// json_too_deep — refuses nesting before a parser or a reader recurses into it.
#pragma once

#include <string_view>

#include "common/base/limits.hpp"

namespace chipweave::codec {

// Whether brackets outside of strings nest deeper than limits::kMaxJsonDepth. The text need not be
// JSON.
inline bool json_too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '{' || c == '[')) {
      if (++depth > limits::kMaxJsonDepth) return true;
    } else if (!quoted && (c == '}' || c == ']')) {
      --depth;
    }
  }
  return false;
}

}  // namespace chipweave::codec
