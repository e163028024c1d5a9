// Reads JSON documents by their keys: duplicate and unknown keys, wrong types and out-of-range
// numbers are problems that name the key path ("links[3].kind"); all problems of a document are
// collected.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/base/limits.hpp"
#include "common/base/result.hpp"
#include "common/codec/json/json_value.hpp"

namespace chipweave::codec {

// Limits for one text.
struct JsonLimits {
  std::size_t bytes = limits::kMaxTopologyFileBytes;
  std::size_t values = limits::kMaxJsonValues;
};

// A byte order mark is skipped. Errors: syntax (with line and column), a key that appears twice in
// one object, a number beyond a double, nesting deeper than limits::kMaxJsonDepth, more than
// `most`.
Result<JsonTree> parse_json(std::string_view text, JsonLimits most = {});
// The checks of parse_json() beyond JSON's syntax.
Result<void> check_json(const JsonTree& tree, std::size_t max_values);
Error to_error(const JsonSyntaxError& error);

// Collects "path: problem"; keeps the first few.
class JsonProblems {
 public:
  JsonProblems() = default;  // paths start at the root
  // Paths start at `base`, which is called `prefix`.
  explicit JsonProblems(JsonValue base, std::string prefix = {})
      : base_(base), prefix_(std::move(prefix)) {}

  // Paths start at the root of a YAML document and follow the line of the value, by id.
  static JsonProblems with_lines(const std::vector<int>& lines) {
    JsonProblems out;
    out.lines_ = &lines;
    return out;
  }

  void add(const JsonValue& at, const std::string& text) { add_at(at, {}, text); }
  // For a member that may be absent.
  void add(const JsonValue& object, std::string_view key, const std::string& text);
  void add_unknown_key(const JsonValue& member, const std::vector<std::string_view>& known);
  bool any() const { return total_ > 0; }
  // Precondition: any().
  Error error() const;

 private:
  void add_at(const JsonValue& at, std::string_view absent_key, const std::string& text);

  std::string path_of(const JsonValue& at, std::string_view absent_key) const;

  // "line 3: "; "" without lines.
  std::string line_of(const JsonValue& at) const;

  JsonValue base_;
  std::string prefix_;
  const std::vector<int>* lines_ = nullptr;
  std::vector<std::string> list_;
  std::size_t total_ = 0;
};

// "expected an object, got a string"
std::string expected(const char* wanted, const JsonValue& got);
std::optional<std::int64_t> as_int64(const JsonValue& value, std::int64_t min, std::int64_t max,
                                     JsonProblems& problems);
// A value that must be an integer from min to max, whose type it gets.
template <std::integral Integer>
std::optional<Integer> as_integer(const JsonValue& value, std::type_identity_t<Integer> min,
                                  Integer max, JsonProblems& problems) {
  const auto out =
      as_int64(value, static_cast<std::int64_t>(min), static_cast<std::int64_t>(max), problems);
  return out ? std::optional(static_cast<Integer>(*out)) : std::nullopt;
}
std::optional<double> as_number(const JsonValue& value, JsonProblems& problems);

// One object. Getters return nullopt (or an absent value) for a key that is absent or wrong, and
// add a problem for the latter; require_* add a problem for absence, too.
class JsonObject {
 public:
  // Written by people: any other key is a problem.
  JsonObject(JsonValue value, std::initializer_list<std::string_view> keys, JsonProblems& problems);
  // Written by another program: other keys are skipped, and null means absent.
  static JsonObject tolerant(JsonValue value, JsonProblems& problems,
                             std::size_t max_text = kMaxTolerantText);

  // Whether it is an object at all.
  explicit operator bool() const { return value_.is_object(); }
  JsonValue value() const { return value_; }
  JsonProblems& problems() const { return problems_; }
  void problem(std::string_view key, const std::string& text) const {
    problems_.add(value_, key, text);
  }

  bool has(std::string_view key) const { return static_cast<bool>(find(key)); }
  JsonValue find(std::string_view key) const;
  // At most limits::kMaxFactBytes; for a tolerant object, max_text.
  std::optional<std::string> text(std::string_view key) const;
  std::string text_or_empty(std::string_view key) const { return text(key).value_or(""); }
  template <std::integral Integer>
  std::optional<Integer> integer(std::string_view key, std::type_identity_t<Integer> min,
                                 Integer max) const {
    const JsonValue value = find(key);
    return value ? as_integer(value, min, max, problems_) : std::nullopt;
  }
  // An integer of T's range.
  template <class T>
  T integer_or(std::string_view key, T absent) const {
    return integer(key, std::numeric_limits<T>::min(), std::numeric_limits<T>::max())
        .value_or(absent);
  }
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> flag(std::string_view key) const;
  // Also absent if it is longer than max_items; iterating over it then does nothing.
  JsonValue array(std::string_view key, std::size_t max_items) const;
  // An object as a map from names to values, with the same limit.
  JsonValue map(std::string_view key, std::size_t max_items) const;
  // A list of strings, each like text().
  std::vector<std::string> texts(std::string_view key, std::size_t max_items) const;

  JsonValue require(std::string_view key) const;
  std::optional<std::string> require_text(std::string_view key) const;
  template <std::integral Integer>
  std::optional<Integer> require_integer(std::string_view key, std::type_identity_t<Integer> min,
                                         Integer max) const {
    require(key);
    return integer(key, min, max);
  }

  static constexpr std::size_t kMaxTolerantText = 4096;

 private:
  JsonObject(JsonValue value, JsonProblems& problems, bool tolerant, std::size_t max_text);
  std::optional<std::string> text_of(const JsonValue& value) const;
  JsonValue container(std::string_view key, JsonValue::Kind kind, std::size_t max_items) const;

  JsonValue value_;
  JsonProblems& problems_;
  bool tolerant_;
  std::size_t max_text_;  // bytes
};

// `unknown kind "x"; did you mean "y"?`, or `…; known: a, b` where nothing is near.
std::string unknown_name(const char* what, std::string_view given,
                         const std::vector<std::string_view>& known);

}  // namespace chipweave::codec
