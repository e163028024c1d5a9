// Look-ups in a table of pairs: our value of an enumeration and the peer's.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

namespace chipweave::rpc {

template <class Ours, class Theirs, std::size_t kSize>
using EnumTable = std::array<std::pair<Ours, Theirs>, kSize>;

template <class Ours, class Theirs, std::size_t kSize>
std::optional<Theirs> theirs_of(const EnumTable<Ours, Theirs, kSize>& table, Ours ours) {
  for (const auto& row : table) {
    if (row.first == ours) return row.second;
  }
  return std::nullopt;
}

template <class Ours, class Theirs, std::size_t kSize>
std::optional<Ours> ours_of(const EnumTable<Ours, Theirs, kSize>& table, Theirs theirs) {
  for (const auto& row : table) {
    if (row.second == theirs) return row.first;
  }
  return std::nullopt;
}

}  // namespace chipweave::rpc
