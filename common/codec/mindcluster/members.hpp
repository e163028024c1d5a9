// Members — the members of one JSON object that another program wrote: unknown ones are passed
// over, null is the same as absent, another type is a problem that names the path. Internal to
// common/codec/mindcluster (it shows nlohmann/json).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/json/json_object.hpp"

namespace chipweave::codec::mindcluster {

inline constexpr std::size_t kMostMemberBytes = 4096;  // of one text
// ConfigMaps hold 1 MiB; escapes in a list of nodes take more.
inline constexpr std::size_t kMaxTextBytes = 4U << 20U;

class Members {
 public:
  Members(const Json& value, std::string path, JsonProblems& problems);

  const Json* find(const char* key) const;  // null if absent
  std::string text(const char* key) const;  // "" if absent
  // A list of texts.
  std::vector<std::string> texts(const char* key, std::size_t most) const;
  template <class T>
  T integer(const char* key, T absent) const {
    const auto value = ranged(key, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    return value ? static_cast<T>(*value) : absent;
  }
  // An empty one if absent.
  const Json& list(const char* key, std::size_t most) const;
  const Json& map(const char* key, std::size_t most) const;
  std::string path(const std::string& key) const;
  JsonProblems& problems() const { return problems_; }

 private:
  std::optional<std::int64_t> ranged(const char* key, std::int64_t min, std::int64_t max) const;

  const Json& value_;
  std::string path_;
  JsonProblems& problems_;
};

Result<Json> parse_text(std::string_view text);

// code: what the text has, "" if it has none.
Error wrong_check_code(const std::string& covered, std::string_view code);

}  // namespace chipweave::codec::mindcluster
