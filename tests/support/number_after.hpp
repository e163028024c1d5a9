// A number in a file that a program or the chart writes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "common/base/text.hpp"

namespace chipweave::test {

// The digits that follow the first `before`; nullopt: there are none.
inline std::optional<long> number_after(std::string_view text, std::string_view before) {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + before.size());
  return parse_number<long>(rest.substr(0, rest.find_first_not_of("0123456789")));
}

}  // namespace chipweave::test
