// count_of — a number with what it counts, for people: "1 pod", "3 pods".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace chipweave {

inline std::string count_of(std::int64_t number, std::string_view what) {
  std::string out = std::to_string(number) + " ";
  out += what;
  if (number != 1) out += "s";
  return out;
}
inline std::string count_of(std::size_t number, std::string_view what) {
  return count_of(static_cast<std::int64_t>(number), what);
}
inline std::string count_of(int number, std::string_view what) {
  return count_of(std::int64_t{number}, what);
}

}  // namespace chipweave
