// Strict reading of hand-written JSON: duplicate and unknown keys, wrong types and out-of-range
// numbers are problems that name the key path ("links[3].kind"). Internal to the codec .cpp files
// (it shows nlohmann/json).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/limits.hpp"
#include "common/base/result.hpp"

namespace chipweave::codec {

using Json = nlohmann::json;

// What one text may cost.
struct JsonBounds {
  std::size_t bytes = limits::kMaxTopologyFileBytes;
  std::size_t values = limits::kMaxJsonValues;
};

// The whole text as one value. Errors: syntax with line and column, a key that appears twice in one
// object, nesting deeper than limits::kMaxJsonDepth, more than `bounds`.
Result<Json> parse_strict_json(std::string_view text, JsonBounds bounds = {});

// Collects sentences "path: what is wrong"; the first few are kept.
class JsonProblems {
 public:
  void add(const std::string& path, const std::string& text);
  bool any() const { return total_ > 0; }
  Error error() const;

 private:
  std::vector<std::string> list_;
  std::size_t total_ = 0;
};

// One object whose keys are known. Getters give nullopt for a key that is absent and, after a
// problem was added, for one that is wrong; require_* add a problem for absence too.
class JsonObject {
 public:
  JsonObject(const Json& value, std::string path, std::initializer_list<std::string_view> keys,
             JsonProblems& problems);

  bool has(std::string_view key) const { return find(key) != nullptr; }
  const Json* find(std::string_view key) const;  // null if absent
  // At most limits::kMaxFactBytes.
  std::optional<std::string> text(std::string_view key) const;
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t min,
                                      std::int64_t max) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> flag(std::string_view key) const;
  // Null if absent, no array, or longer than max_items.
  const Json* array(std::string_view key, std::size_t max_items) const;
  std::optional<std::string> require_text(std::string_view key) const;
  std::optional<std::int64_t> require_integer(std::string_view key, std::int64_t min,
                                              std::int64_t max) const;
  std::string path(std::string_view key) const;
  JsonProblems& problems() const { return problems_; }

 private:
  void missing(std::string_view key) const;

  const Json& value_;
  std::string path_;
  JsonProblems& problems_;
};

// A value that must be an integer of that range; the problem is added under `path`.
std::optional<std::int64_t> as_integer(const Json& value, const std::string& path, std::int64_t min,
                                       std::int64_t max, JsonProblems& problems);
std::optional<double> as_number(const Json& value, const std::string& path, JsonProblems& problems);

}  // namespace chipweave::codec
